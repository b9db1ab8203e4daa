//! bcc's mysqld_qslower and dbslower: one line a query that took longer than a limit.
//!
//! ```text
//! Tracing MySQL server queries for PID 14371 slower than 1 ms...
//! TIME(s)        PID          MS QUERY
//! 0.000000       18608   130.751 SELECT * FROM words WHERE word REGEXP '^bre.*n$'
//! ```
//!
//! The time is seconds since the first line, so no record has a wall time; PID is the thread. mysqld_qslower keeps 127 bytes of a query,
//! dbslower 255: longer ones were cut. A query with line feeds goes over several lines.
//! Sources: tools/mysqld_qslower.py and tools/dbslower.py of bcc.

use std::borrow::Cow;

use super::lookahead::Lookahead;
use super::{Fit, Format, Options};
use crate::error::Result;
use crate::input::Lines;
use crate::model::{Query, Trace};

/// Entry in the table of formats.
pub(super) const FORMAT: Format =
    Format { name: "qslower", about: "queries of bcc's mysqld_qslower and dbslower", fits, read };

fn fits(head: &[u8]) -> Fit {
    if head.split(|&b| b == b'\n').take(20).any(is_heading) {
        Fit::Sure
    } else {
        Fit::No("no line `TIME(s) PID MS QUERY`".into())
    }
}

fn is_heading(line: &[u8]) -> bool {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    [&b"TIME(s)"[..], b"PID", b"MS", b"QUERY"].iter().all(|name| words.next() == Some(name))
}

fn read(lines: &mut Lines, trace: &mut Trace, _options: &Options) -> Result<()> {
    let mut lines = Lookahead::new(lines);
    let mut longest = 127;
    let mut cut_lines = 0u64;
    while let Some((number, line)) = lines.next() {
        if line.starts_with(b"Tracing database queries") {
            longest = 255;
        }
        let Some(record) = Record::parse(&line) else {
            if !(is_heading(&line) || line.starts_with(b"Tracing ") || line.trim_ascii().is_empty()) {
                trace.loss("line is no query, skipped", number);
            }
            continue;
        };
        let mut text = record.text.to_vec();
        while let Some((_, more)) = lines.next_if(|line| Record::parse(line).is_none() && !is_heading(line)) {
            text.push(b'\n');
            text.extend_from_slice(&more);
        }
        let cut = text.len() >= longest;
        cut_lines += u64::from(cut);
        trace.query(Query {
            elapsed: Some(record.elapsed),
            text: String::from_utf8_lossy(&text),
            cut,
            attributes: vec![(Cow::from("Time"), record.time.into()), (Cow::from("Thread_id"), record.thread.into())],
            ..Query::default()
        })?;
    }
    if cut_lines > 0 {
        trace.losses(format!("query cut by the tool at {longest} bytes"), cut_lines);
    }
    Ok(())
}

struct Record<'a> {
    time: &'a str,
    thread: &'a str,
    elapsed: u64,
    text: &'a [u8],
}

impl Record<'_> {
    fn parse(line: &[u8]) -> Option<Record<'_>> {
        let mut rest = line;
        let mut word = || {
            let length = rest.iter().position(|&b| b == b' ')?;
            let (found, after) = rest.split_at(length);
            rest = after.trim_ascii_start();
            std::str::from_utf8(found).ok()
        };
        let (time, thread, milliseconds) = (word()?, word()?, word()?);
        let is_number = |text: &str| text.contains('.') && text.parse::<f64>().is_ok_and(|number| number >= 0.0);
        let elapsed = milliseconds.parse::<f64>().ok().map(|time| (time * 1e6).round()).filter(|time| *time < 1e18)?;
        let whole = is_number(time) && is_number(milliseconds) && thread.bytes().all(|b| b.is_ascii_digit());
        whole.then_some(Record { time, thread, elapsed: elapsed as u64, text: rest })
    }
}

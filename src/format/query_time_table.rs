//! The table that MariaDB's and MySQL's own `query-time.d` prints: who, database, query, milliseconds.
//!
//! Columns of 20, 20, 40 and 9, left-aligned, a blank between them; what is longer pushes the rest right. Texts are printed raw, so that one record may
//! take several lines: it ends where a line ends in the padded number. DTrace's default buffer cuts texts at 255 bytes, right before the
//! number. Source: support-files/dtrace/query-time.d of MariaDB; a recorded run in tests/data/query_time_table.

use std::borrow::Cow;

use super::{Fit, Format, Options, diagnostic, number};
use crate::error::Result;
use crate::input::Lines;
use crate::model::{Query, Trace};

/// Entry in the table of formats.
pub(super) const FORMAT: Format =
    Format { name: "query-time-table", about: "table of MariaDB's own query-time.d", fits, read };

/// Bytes that DTrace's default `strsize` of 256 holds.
const CUT_AT: usize = 255;
/// Longest record.
const MAX_RECORD: usize = 1 << 20;

fn fits(head: &[u8]) -> Fit {
    let lines = head.split(|&byte| byte == b'\n').take(20);
    match lines.map(<[u8]>::trim_ascii_end).any(is_title) {
        true => Fit::Sure,
        false => Fit::No("no line `Who Database Query Time(ms)`".into()),
    }
}

fn is_title(line: &[u8]) -> bool {
    let mut words = line.split(|&byte| byte == b' ').filter(|word| !word.is_empty());
    [&b"Who"[..], b"Database", b"Query", b"Time(ms)"].into_iter().all(|word| words.next() == Some(word))
        && words.next().is_none()
}

fn read(lines: &mut Lines, trace: &mut Trace, _options: &Options) -> Result<()> {
    let mut record: Vec<u8> = Vec::new();
    let mut told = Told::default();
    loop {
        if !lines.is_ready() {
            trace.idle()?;
        }
        let number = lines.number().saturating_add(1);
        let Some(line) = lines.next_raw() else { break };
        if diagnostic::read(line, trace) || is_title(line.trim_ascii_end()) {
            continue;
        }
        if record.is_empty() && line.trim_ascii().is_empty() {
            continue;
        }
        record.extend_from_slice(line);
        match split_time(&record).and_then(|(row, time)| told.query(row, time)) {
            Some(query) => trace.query(query)?,
            None if record.len() > MAX_RECORD => trace.loss("text without a time behind it, passed over", number),
            None => {
                record.push(b'\n');
                continue;
            }
        }
        record.clear();
    }
    if !record.trim_ascii().is_empty() {
        trace.loss("the last statement has no time: the table was cut", lines.number());
    }
    told.tell(trace);
    Ok(())
}

/// What is told at the end.
#[derive(Default)]
struct Told {
    cut: u64,
    early: u64,
}

impl Told {
    fn query<'a>(&mut self, row: &'a [u8], milliseconds: u64) -> Option<Query<'a>> {
        let (who, rest) = column(row)?;
        let (database, rest) = column(rest)?;
        // The text's own column is 40 bytes wide; a longer text has no padding.
        let text = if rest.len() <= 40 { trim_end(rest) } else { rest };
        let is_empty = who.is_empty() && database.is_empty() && text.is_empty();
        self.early = self.early.saturating_add(u64::from(is_empty));
        let cut = text.len() == CUT_AT;
        self.cut = self.cut.saturating_add(u64::from(cut));
        let (user, host) = match memchr::memchr(b'@', who) {
            Some(at) => (who.get(..at)?, who.get(at.saturating_add(1)..)?),
            None => (who, &b""[..]),
        };
        let known = |text: &'a [u8]| (!text.is_empty()).then(|| String::from_utf8_lossy(text));
        Some(Query {
            user: known(user),
            host: known(host),
            database: known(database),
            // A query that began before the trace has no start: the script prints the age of the machine.
            elapsed: if is_empty { None } else { milliseconds.checked_mul(1_000_000) },
            text: if cut { without_part(text) } else { String::from_utf8_lossy(text) },
            cut,
            ..Query::default()
        })
    }

    fn tell(&self, trace: &mut Trace) {
        if self.cut > 0 {
            let text = format!("statements whose text was cut at {CUT_AT} bytes (dtrace -x strsize=… keeps more)");
            trace.losses(text, self.cut);
        }
        if self.early > 0 {
            trace.losses("statements that began before the trace: their time is not known", self.early);
        }
    }
}

/// The number at the end of a row: a blank, digits, blanks up to 9 columns.
fn split_time(record: &[u8]) -> Option<(&[u8], u64)> {
    let record = record.strip_suffix(b"\r").unwrap_or(record);
    let text = trim_end(record);
    let digits = text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let start = text.len().checked_sub(digits)?;
    let width = record.len().checked_sub(start)?;
    if digits == 0 || width != digits.max(9) {
        return None;
    }
    let value = number::parse(text.get(start..)?)?;
    Some((text.get(..start)?.strip_suffix(b" ")?, u64::try_from(value).ok()?))
}

/// A column of 20 bytes, or longer up to the next blank; and what follows.
fn column(row: &[u8]) -> Option<(&[u8], &[u8])> {
    let width = memchr::memchr(b' ', row).map_or(row.len(), |end| end.max(20));
    Some((trim_end(row.get(..width)?), row.get(width..)?.strip_prefix(b" ")?))
}

fn trim_end(text: &[u8]) -> &[u8] {
    let length = text.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last.saturating_add(1));
    text.get(..length).unwrap_or(text)
}

/// The text without a character that the cut halved.
fn without_part(text: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(text) {
        Err(error) if error.error_len().is_none() => {
            String::from_utf8_lossy(text.get(..error.valid_up_to()).unwrap_or(text))
        }
        _ => String::from_utf8_lossy(text),
    }
}

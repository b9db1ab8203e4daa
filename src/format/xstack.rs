//! xstack (0x.tools): one line a sample, `timestamp|tid|tgid|comm|state|ustack|kstack`.
//!
//! Its README shows commas, the program prints bars: the separator is taken from the heading, or without one from behind the time. Nothing
//! is quoted, and C++ names hold both, so only the five leading columns and the last separator count: what is between is the user
//! stack. Frames are innermost first, with `;` between them. `[no_ustack]` stands for a stack that could not be had; an empty column is none.
//! xtop's files use commas and single quotes around the stacks. Source: xstack.c of 0xtools.

use super::{Fit, Format, Options};
use crate::error::Result;
use crate::input::Lines;
use crate::model::{Function, Key, KeyKind, NameId, Trace, Value};
use crate::units::Unit;

/// Entry in the table of formats.
pub(super) const FORMAT: Format = Format { name: "xstack", about: "samples of xstack (0x.tools)", fits, read };

const HEADING: &[u8] = b"timestamp";
const KEYS: [&str; 2] = ["comm", "state"];

fn fits(head: &[u8]) -> Fit {
    let line = head.split(|&b| b == b'\n').next().unwrap_or(&[]);
    let sample = separator(line).and_then(|separator| Sample::parse(line, separator));
    if is_heading(line) || sample.is_some() {
        Fit::Sure
    } else {
        Fit::No("no line `timestamp|tid|tgid|comm|state|ustack|kstack`".into())
    }
}

fn is_heading(line: &[u8]) -> bool {
    let names = [&b"tid"[..], b"tgid", b"comm", b"state"];
    let rest = line.strip_prefix(HEADING).and_then(<[u8]>::split_first);
    rest.is_some_and(|(separator, rest)| rest.split(|b| b == separator).zip(names).filter(|(a, b)| a == b).count() == 4)
}

/// The separator stands behind the heading's first word, or behind a time such as `2025-01-01 00:00:00.000001`.
fn separator(line: &[u8]) -> Option<u8> {
    let length = if line.starts_with(HEADING) {
        HEADING.len()
    } else {
        line.iter().take_while(|b| b.is_ascii_digit() || matches!(b, b'-' | b':' | b'.' | b' ' | b'T')).count()
    };
    line.get(length).copied().filter(|b| length >= HEADING.len() && matches!(b, b'|' | b','))
}

struct Sample<'a> {
    comm: &'a [u8],
    state: &'a [u8],
    user: &'a [u8],
    kernel: &'a [u8],
}

impl Sample<'_> {
    fn parse(line: &[u8], separator: u8) -> Option<Sample<'_>> {
        let mut columns = line.splitn(6, |&b| b == separator);
        columns.next()?;
        for _ in 0..2 {
            let id = columns.next()?;
            if id.is_empty() || !id.iter().all(u8::is_ascii_digit) {
                return None;
            }
        }
        let (comm, state, stacks) = (columns.next()?, columns.next()?, columns.next()?);
        let at = memchr::memrchr(separator, stacks)?;
        let quoted = |stack: &'_ [u8]| stack.len() > 1 && stack.starts_with(b"'") && stack.ends_with(b"'");
        let bare = |range: std::ops::Range<usize>| {
            let stack = stacks.get(range.clone()).unwrap_or(&[]);
            let stack = if quoted(stack) { stacks.get(range.start + 1..range.end - 1) } else { Some(stack) };
            stack.unwrap_or(&[])
        };
        Some(Sample { comm, state, user: bare(0..at), kernel: bare(at + 1..stacks.len()) })
    }
}

fn read(lines: &mut Lines, trace: &mut Trace, _options: &Options) -> Result<()> {
    let keys = KEYS.map(|name| Key { name: Some(name.to_owned()), kind: KeyKind::Text });
    let series = trace.series(None, Function::Count, Unit::Samples, &keys, true);
    trace.notes.info("frames are taken as innermost first, as xstack prints them without -r");
    let mut known = None;
    while let Some(line) = lines.next() {
        known = known.or_else(|| separator(line));
        if is_heading(line) || line.trim_ascii().is_empty() {
            continue;
        }
        let Some(sample) = known.and_then(|separator| Sample::parse(line, separator)) else {
            let number = lines.number();
            trace.loss("line is no sample, skipped", number);
            continue;
        };
        let keys = [trace.names.text(sample.comm), trace.names.text(sample.state)];
        let mut stack: Vec<NameId> = Vec::new();
        for part in [sample.user, sample.kernel] {
            let frames = part.rsplit(|&b| b == b';').filter(|frame| !frame.is_empty());
            stack.extend(frames.map(|frame| trace.names.frame(frame)));
        }
        trace.row(series, &keys, &stack, Value::Number(1));
    }
    Ok(())
}

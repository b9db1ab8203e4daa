//! psn (0x.tools): a table of sampled thread states, with whatever columns were asked for.
//!
//! A heading line names the columns (`samples | avg_threads | comm | state | kstack`), a rule of dashes follows, then rows until a blank
//! line. `samples` is the weight; `kstack` is a stack, outermost first, as `a()->b()`; every other column is a key. Threads on CPU are
//! told by their state, `Running (ON CPU)`, which keeps them apart from those that wait, also where their last kernel stack is shown.
//! Source of the format: psn's own output.

use super::{Fit, Format, Options};
use crate::error::Result;
use crate::input::Lines;
use crate::model::{Function, Key, KeyKind, NameId, SeriesId, Trace, Value};
use crate::units::Unit;

/// Entry in the table of formats.
pub(super) const FORMAT: Format = Format { name: "psn", about: "tables of psn (0x.tools)", fits, read };

fn fits(head: &[u8]) -> Fit {
    let found = head.split(|&b| b == b'\n').any(|line| Heading::find(line).is_some());
    if found { Fit::Sure } else { Fit::No("no line with the columns `samples | avg_threads`".into()) }
}

/// What the columns of a table are.
struct Heading {
    columns: Vec<String>,
}

impl Heading {
    fn find(line: &[u8]) -> Option<Heading> {
        let columns: Vec<String> = cells(line).map(|cell| String::from_utf8_lossy(cell).into_owned()).collect();
        let has = |name: &str| columns.iter().any(|column| column == name);
        (has("samples") && has("avg_threads")).then_some(Heading { columns })
    }

    fn is_key(column: &str) -> bool {
        !matches!(column, "samples" | "avg_threads" | "kstack")
    }

    fn series(&self, trace: &mut Trace) -> SeriesId {
        let keys = self.columns.iter().filter(|column| Heading::is_key(column));
        let keys: Vec<Key> = keys.map(|column| Key { name: Some(column.clone()), kind: KeyKind::Text }).collect();
        trace.series(None, Function::Count, Unit::Samples, &keys, self.columns.iter().any(|column| column == "kstack"))
    }
}

fn cells(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|&b| b == b'|').map(<[u8]>::trim_ascii)
}

fn read(lines: &mut Lines, trace: &mut Trace, _options: &Options) -> Result<()> {
    let mut table: Option<(Heading, SeriesId)> = None;
    while let Some(line) = lines.next() {
        if let Some(heading) = Heading::find(line) {
            let series = heading.series(trace);
            table = Some((heading, series));
        } else if line.trim_ascii().is_empty() {
            table = None;
        } else if let Some((heading, series)) = &table
            && !line.starts_with(b"---")
            && row(line, heading, *series, trace).is_none()
        {
            let number = lines.number();
            trace.loss("line is no row of the table above it, skipped", number);
        }
    }
    Ok(())
}

fn row(line: &[u8], heading: &Heading, series: SeriesId, trace: &mut Trace) -> Option<()> {
    let mut weight: Option<i128> = None;
    let mut keys: Vec<NameId> = Vec::new();
    let mut stack: Vec<NameId> = Vec::new();
    let mut count = 0;
    for (column, cell) in heading.columns.iter().zip(cells(line)) {
        count += 1;
        match column.as_str() {
            "samples" => weight = std::str::from_utf8(cell).ok()?.parse().ok(),
            "avg_threads" => {}
            "kstack" => stack.extend(frames(cell).map(|frame| trace.names.frame(frame))),
            "comm" => keys.push(trace.names.text(bare(cell))),
            _ => keys.push(trace.names.text(cell)),
        }
    }
    let weight = weight.filter(|_| count == heading.columns.len())?;
    trace.row(series, &keys, &stack, Value::Number(weight));
    Some(())
}

/// `(mariadbd)` without its parentheses.
fn bare(comm: &[u8]) -> &[u8] {
    comm.strip_prefix(b"(").and_then(|rest| rest.strip_suffix(b")")).unwrap_or(comm)
}

/// `a()->b()`: frames from the outermost; `-` stands for none.
fn frames(kstack: &[u8]) -> impl Iterator<Item = &[u8]> {
    kstack
        .split(|&b| b == b'>')
        .map(|frame| frame.strip_suffix(b"-").unwrap_or(frame))
        .map(|frame| frame.strip_suffix(b"()").unwrap_or(frame))
        .filter(|frame| !frame.is_empty())
}

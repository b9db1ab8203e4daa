//! Maps on their way to series: rows wait until the map ends, because only all rows together tell how many keys there are.

use std::collections::HashSet;

use crate::model::{Distribution, Function, Key, KeyKind, NameId, SeriesId, Trace, Value};
use crate::units::Unit;

/// What stands between the brackets.
#[derive(Default)]
pub(super) struct Keys {
    /// Everything but stacks, with the separator between parts.
    pub(super) scalars: Option<Vec<u8>>,
    /// Frames, innermost first; `None` if the map has no stack.
    pub(super) stack: Option<Vec<Vec<u8>>>,
}

/// A value of a map.
pub(super) enum Cell {
    Number(i128),
    /// `avg()`, where the output tells.
    Average(i128),
    /// `stats()`.
    Stats {
        count: i128,
        total: i128,
    },
    Spread(Distribution),
}

/// The map that is being read, and those before it.
#[derive(Default)]
pub(super) struct Maps {
    name: String,
    separator: &'static str,
    rows: Vec<(Keys, Cell)>,
    seen: HashSet<Vec<u8>>,
    printed: HashSet<String>,
}

impl Maps {
    /// A row. `raw` is the text of all its keys: a key that comes twice begins the next print of the map.
    pub(super) fn add(
        &mut self,
        name: &str,
        separator: &'static str,
        raw: &[u8],
        row: (Keys, Cell),
        trace: &mut Trace,
    ) {
        if self.name != name || !self.seen.insert(raw.to_vec()) {
            self.finish(trace);
            self.name = name.to_owned();
            self.seen.insert(raw.to_vec());
        }
        self.separator = separator;
        self.rows.push(row);
    }

    /// Rows of the current map.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Hands over the map that has ended.
    pub(super) fn finish(&mut self, trace: &mut Trace) {
        let rows = std::mem::take(&mut self.rows);
        self.seen.clear();
        if rows.is_empty() {
            return;
        }
        let separator = self.separator.as_bytes();
        let parts = |keys: &Keys| keys.scalars.as_ref().map_or(0, |text| split(text, separator, usize::MAX).len());
        let arity = rows.iter().map(|(keys, _)| parts(keys)).min().unwrap_or(0);
        let scalars: Vec<Vec<Vec<u8>>> = rows
            .iter()
            .map(|(keys, _)| keys.scalars.as_ref().map_or(Vec::new(), |text| split(text, separator, arity)))
            .collect();
        let kinds: Vec<Key> = (0..arity)
            .map(|at| {
                let whole = scalars.iter().all(|row| row.get(at).is_some_and(|text| is_integer(text)));
                Key { name: None, kind: if whole { KeyKind::Int } else { KeyKind::Text } }
            })
            .collect();
        let again = !self.printed.insert(self.name.clone());
        let mut map = Map { name: &self.name, kinds, again, begun: Vec::new() };
        for ((keys, cell), scalars) in rows.into_iter().zip(scalars) {
            let ids: Vec<NameId> = scalars.iter().map(|text| trace.names.text(text)).collect();
            let stack = keys.stack.map(|frames| stack(&frames, trace));
            map.cell(&ids, stack, cell, trace);
        }
    }
}

struct Map<'a> {
    name: &'a str,
    kinds: Vec<Key>,
    /// The map was printed before: this is its next pass.
    again: bool,
    begun: Vec<SeriesId>,
}

impl Map<'_> {
    fn cell(&mut self, keys: &[NameId], stack: Option<Vec<NameId>>, cell: Cell, trace: &mut Trace) {
        let unit = unit(self.name);
        let name = self.name.to_owned();
        let rows = match cell {
            Cell::Number(number) => vec![(name, Function::Count, unit, Value::Number(number))],
            Cell::Average(number) => vec![(name, Function::Avg, unit, Value::Number(number))],
            Cell::Stats { count, total } => vec![
                (format!("{name} count"), Function::Count, Unit::Count, Value::Number(count)),
                (name, Function::Sum, unit, Value::Number(total)),
            ],
            Cell::Spread(spread) => {
                let function = if is_binary(&spread) { Function::Quantize } else { Function::Lquantize };
                vec![(name, function, unit, Value::Distribution(spread))]
            }
        };
        for (name, function, unit, value) in rows {
            let name = Some(name.as_str()).filter(|name| !name.is_empty());
            let series = trace.series(name, function, unit, &self.kinds, stack.is_some());
            if !self.begun.contains(&series) {
                self.begun.push(series);
                if let Some(series) = trace.series_mut(series).filter(|_| self.again) {
                    series.next_pass();
                }
            }
            trace.row(series, keys, stack.as_deref().unwrap_or(&[]), value);
        }
    }
}

/// Frames as names, outermost first. Where two stacks are keys, the kernel's goes inside.
fn stack(frames: &[Vec<u8>], trace: &mut Trace) -> Vec<NameId> {
    if frames.iter().all(Vec::is_empty) {
        return vec![trace.names.text(b"[no stack]")];
    }
    let parts: Vec<&[Vec<u8>]> = frames.split(Vec::is_empty).filter(|part| !part.is_empty()).collect();
    let mut user: Vec<NameId> = Vec::new();
    let mut kernel: Vec<NameId> = Vec::new();
    for part in parts {
        let is_kernel = part.iter().any(|frame| KERNEL.iter().any(|start| frame.starts_with(start)));
        let side = if is_kernel { &mut kernel } else { &mut user };
        side.extend(part.iter().rev().map(|frame| trace.names.frame(&offset_in_hex(frame))));
    }
    user.extend(kernel);
    user
}

/// Outermost functions of a kernel stack.
const KERNEL: [&[u8]; 5] = [b"entry_SYSCALL", b"do_syscall_64", b"el0t_64_sync", b"asm_sysvec_", b"ret_from_fork"];

/// bpftrace prints offsets in decimal; the rest of seatrace knows `+0x`.
fn offset_in_hex(frame: &[u8]) -> Vec<u8> {
    let at = memchr::memrchr(b'+', frame).filter(|&at| at > 0);
    let offset = at.and_then(|at| std::str::from_utf8(frame.get(at + 1..)?).ok()?.parse::<u64>().ok());
    match (at, offset) {
        (Some(at), Some(offset)) => [frame.get(..at).unwrap_or(frame), format!("+{offset:#x}").as_bytes()].concat(),
        _ => frame.to_vec(),
    }
}

fn split(text: &[u8], separator: &[u8], most: usize) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while parts.len() + 1 < most {
        let Some(at) = memchr::memmem::find(rest, separator).filter(|_| !separator.is_empty()) else { break };
        parts.push(rest.get(..at).unwrap_or(&[]).to_vec());
        rest = rest.get(at + separator.len()..).unwrap_or(&[]);
    }
    if most > 0 {
        parts.push(rest.to_vec());
    }
    parts
}

fn is_integer(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| text.parse::<i128>().is_ok())
}

/// `us`, `read_us`, `usecs`
fn unit(name: &str) -> Unit {
    match name.rsplit('_').next().unwrap_or("") {
        "ns" | "nsecs" => Unit::Nanoseconds,
        "us" | "usecs" => Unit::Microseconds,
        "ms" | "msecs" => Unit::Milliseconds,
        "bytes" => Unit::Bytes,
        _ => Unit::Unknown,
    }
}

/// Whether all bounds are powers of two, as `hist()` has them.
fn is_binary(spread: &Distribution) -> bool {
    let power = |bound: i128| matches!(bound, i128::MIN | i128::MAX | 0) || bound.unsigned_abs().is_power_of_two();
    spread.buckets().iter().all(|bucket| {
        let single = bucket.low.checked_add(1) == Some(bucket.high) && bucket.low <= 1;
        single || (power(bucket.low) && power(bucket.high))
    })
}

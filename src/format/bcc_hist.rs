//! Histograms of bcc: biolatency, ext4dist, funclatency and their kin.
//!
//! ```text
//! operation = read
//!      usecs               : count     distribution
//!          0 -> 1          : 4        |********            |
//!          2 -> 3          : 10       |********************|
//! ```
//!
//! Both bounds of a bucket are inside it; `usecs` is the unit. Lines `name = value` above a histogram are its keys. Linear histograms
//! have one number a bucket. Source: print_log2_hist and print_linear_hist in bcc's table.py.

use super::{Fit, Format, Options};
use crate::error::Result;
use crate::input::Lines;
use crate::model::{Distribution, Function, Key, KeyKind, NameId, Trace, Value};
use crate::units::Unit;

/// Entry in the table of formats.
pub(super) const FORMAT: Format =
    Format { name: "bcc-hist", about: "histograms of bcc (biolatency, ext4dist, funclatency)", fits, read };

fn fits(head: &[u8]) -> Fit {
    if head.split(|&b| b == b'\n').any(|line| heading(line).is_some()) {
        Fit::Sure
    } else {
        Fit::No("no line `unit : count distribution`".into())
    }
}

/// The word for the values in `     usecs               : count     distribution`.
fn heading(line: &[u8]) -> Option<&str> {
    let (unit, rest) = split_colon(line)?;
    let mut words = rest.split_whitespace();
    (words.next() == Some("count") && words.next() == Some("distribution") && words.next().is_none()).then_some(unit)
}

fn split_colon(line: &[u8]) -> Option<(&str, &str)> {
    let (left, right) = std::str::from_utf8(line).ok()?.split_once(" : ")?;
    Some((left.trim(), right.trim()))
}

fn unit_of(word: &str) -> Unit {
    Unit::from_word(match word {
        "nsecs" => "ns",
        "usecs" => "us",
        "msecs" => "ms",
        "secs" => "s",
        word => word,
    })
}

/// The histogram that is being read.
struct Current {
    unit: Unit,
    linear: bool,
    spread: Distribution,
}

fn read(lines: &mut Lines, trace: &mut Trace, _options: &Options) -> Result<()> {
    let mut keys: Vec<(String, String)> = Vec::new();
    let mut current: Option<Current> = None;
    while let Some(line) = lines.next() {
        let text = String::from_utf8_lossy(line).trim().to_owned();
        if let Some(word) = heading(line) {
            let unit = unit_of(word);
            flush(&mut current, &keys, trace);
            current = Some(Current { unit, linear: true, spread: Distribution::new() });
        } else if let (Some(hist), Some((low, high, count))) = (&mut current, bucket(line)) {
            hist.linear &= low.checked_add(1) == Some(high);
            hist.spread.add(low, high, count);
        } else if text.is_empty() {
            if current.is_some() {
                flush(&mut current, &keys, trace);
                keys.clear();
            }
        } else if let Some((name, value)) = text.split_once(" = ") {
            flush(&mut current, &keys, trace);
            let name = name.trim().to_owned();
            keys.retain(|(known, _)| *known != name);
            keys.push((name, value.trim().to_owned()));
        } else if current.is_some() {
            let number = lines.number();
            trace.loss("line is no bucket, skipped", number);
        }
    }
    flush(&mut current, &keys, trace);
    Ok(())
}

/// `0 -> 1          : 4        |****   |`
fn bucket(line: &[u8]) -> Option<(i128, i128, i128)> {
    let (bounds, rest) = split_colon(line)?;
    let count = rest.split('|').next()?.trim().parse().ok()?;
    let (low, last) = bounds.split_once("->").unwrap_or((bounds, bounds));
    let (low, last): (i128, i128) = (low.trim().parse().ok()?, last.trim().parse().ok()?);
    Some((low, last.checked_add(1)?, count))
}

fn flush(current: &mut Option<Current>, keys: &[(String, String)], trace: &mut Trace) {
    let Some(hist) = current.take() else { return };
    let function = if hist.linear { Function::Lquantize } else { Function::Quantize };
    let kinds: Vec<Key> = keys.iter().map(|(name, _)| Key { name: Some(name.clone()), kind: KeyKind::Text }).collect();
    let ids: Vec<NameId> = keys.iter().map(|(_, value)| trace.names.text(value.as_bytes())).collect();
    let series = trace.series(None, function, hist.unit, &kinds, false);
    trace.row(series, &ids, &[], Value::Distribution(hist.spread));
}

//! The digest for programs: JSON, one object a line, and CSV. docs/digest.md lists the fields.

use std::io::Write;

use serde_json::{Map, Value, json};

use super::super::Options;
use super::super::csv::{failed, text_cell};
use super::super::json::write_line;
use super::ranked;
use crate::error::Result;
use crate::model::{Class, ClassKind, NameId, Trace, Workload};

/// Writes one object a class, then one for the total.
pub(super) fn json(
    workload: &Workload,
    said: &[String],
    trace: &Trace,
    options: &Options,
    out: &mut dyn Write,
) -> Result<()> {
    let classes = ranked(workload, options.sort);
    let total = workload.total();
    let top = options.digest.top.filter(|&top| top > 0).unwrap_or(classes.len());
    for (at, class) in classes.iter().take(top).enumerate() {
        write_line(out, &json!({ "digest": object(at + 1, class, total, workload) }))?;
    }
    let hidden: Vec<&&Class> = classes.iter().skip(top).collect();
    let notes: Vec<String> = trace.notes.iter().map(ToString::to_string).chain(said.iter().cloned()).collect();
    let last = json!({ "total": {
        "count": workload.count(),
        "total_ns": number(total),
        "nested": workload.nested().0,
        "nested_ns": workload.nested().1,
        "classes": classes.len(),
        "classes_not_shown": hidden.len(),
        "not_shown_ns": number(hidden.iter().map(|class| class.total()).sum()),
        "first_end_ns": workload.range.map(|range| range.0),
        "last_end_ns": workload.range.map(|range| range.1),
        "notes": notes,
    }});
    write_line(out, &last)
}

/// A number for JSON; beyond 64 bits the nearest.
fn number(value: i128) -> Value {
    match u64::try_from(value) {
        Ok(value) => value.into(),
        Err(_) => i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX }).into(),
    }
}

/// A value, or the bounds between which it lies.
fn bounds(bounds: Option<(i128, i128)>) -> Value {
    match bounds {
        None => Value::Null,
        Some((low, high)) if low == high => number(low),
        Some((low, high)) => json!([number(low), number(high)]),
    }
}

fn word(kind: ClassKind) -> &'static str {
    match kind {
        ClassKind::Sql => "sql",
        ClassKind::Admin => "admin",
        ClassKind::Empty => "empty",
    }
}

fn share(part: i128, whole: i128) -> f64 {
    if whole == 0 { 0.0 } else { (1e6 * part as f64 / whole as f64).round() / 1e6 }
}

fn object(rank: usize, class: &Class, total: i128, workload: &Workload) -> Value {
    let names = |found: &std::collections::BTreeMap<NameId, u64>| {
        let mut all: Vec<(String, u64)> =
            found.iter().map(|(&name, &count)| (workload.names.get(name).to_owned(), count)).collect();
        all.sort();
        Value::Object(all.into_iter().map(|(name, count)| (name, count.into())).collect::<Map<_, _>>())
    };
    let waits: Map<String, Value> = class.waits.iter().map(|(kind, &time)| (kind.clone(), number(time))).collect();
    let [sent, examined, affected] = class.rows;
    json!({
        "rank": rank,
        "id": class.id(),
        "kind": word(class.kind),
        "fingerprint": class.fingerprint,
        "count": class.count,
        "share": share(class.total(), total),
        "total_ns": number(class.total()),
        "total_is_estimate": class.is_estimated(),
        "min_ns": class.bounds().map(|bounds| number(bounds.0)),
        "avg_ns": number(class.average()),
        "p50_ns": bounds(class.quantile(0.5)),
        "p95_ns": bounds(class.quantile(0.95)),
        "p99_ns": bounds(class.quantile(0.99)),
        "max_ns": class.bounds().map(|bounds| number(bounds.1)),
        "lock_ns": class.lock_time,
        "rows_sent": sent,
        "rows_examined": examined,
        "rows_affected": affected,
        "errors": class.errors,
        "cut_texts": class.cut,
        "nested": class.nested.0,
        "nested_ns": class.nested.1,
        "self_ns": number((class.total() - i128::from(class.inside)).max(0)),
        "databases": names(&class.databases),
        "users": names(&class.users),
        "waits_ns": waits,
        "sample": class.sample,
    })
}

/// Writes a line of names and one a class.
pub(super) fn csv(
    workload: &Workload,
    _said: &[String],
    _trace: &Trace,
    options: &Options,
    out: &mut dyn Write,
) -> Result<()> {
    let classes = ranked(workload, options.sort);
    let total = workload.total();
    let top = options.digest.top.filter(|&top| top > 0).unwrap_or(classes.len());
    let mut table = csv::Writer::from_writer(out);
    let mut named = false;
    for (at, class) in classes.iter().take(top).enumerate() {
        let Value::Object(object) = object(at + 1, class, total, workload) else { continue };
        if !named {
            table.write_record(object.keys()).map_err(failed)?;
            named = true;
        }
        table.write_record(object.values().map(cell)).map_err(failed)?;
    }
    table.flush()?;
    Ok(())
}

/// A value as a cell.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text_cell(text).into_owned(),
        Value::Array(bounds) => bounds.iter().map(ToString::to_string).collect::<Vec<_>>().join(".."),
        Value::Object(counts) => {
            let counts: Vec<String> = counts.iter().map(|(name, count)| format!("{name}={count}")).collect();
            text_cell(&counts.join("; ")).into_owned()
        }
        other => other.to_string(),
    }
}

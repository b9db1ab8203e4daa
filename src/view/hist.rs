//! Histograms: distributions in the shape that DTrace gives them, one a key, with count, sum where it is known, and quantiles.
//!
//! Quantiles are bounds of a bucket: nothing more is known of the values in it.

use std::io::Write;

use super::text;
use super::{Options, View, write_notes};
use crate::error::{Error, Result};
use crate::model::{Bucket, Distribution, Function, NameId, Row, Series, Trace};
use crate::units::Unit;

/// Entry in the table of views.
pub(super) const VIEW: View =
    View { name: "hist", extensions: &["hist"], about: "histograms, one a key", write, stream: None };

/// Width of a full bar.
const BAR: usize = 40;
/// Empty rows that are drawn between two filled ones; a wider gap is one line.
const LONGEST_GAP: usize = 20;

fn write(trace: &Trace, _options: &Options, out: &mut dyn Write) -> Result<()> {
    let shown: Vec<&Series> =
        trace.series.iter().filter(|series| series.is_distribution() && !series.is_empty()).collect();
    if shown.is_empty() {
        return Err(Error::Usage("there are no distributions in it: try -f log, folded or json".into()));
    }
    let mut first = true;
    for series in shown {
        for row in sorted(trace, series) {
            if !std::mem::replace(&mut first, false) {
                writeln!(out)?;
            }
            write_head(trace, series, &row, out)?;
            if let Some(distribution) = row.distribution {
                write_shape(series, distribution, out)?;
                write_summary(series, distribution, sum_of(trace, series, &row), out)?;
            }
        }
    }
    write_notes(trace, out)
}

/// Rows with the most values first.
fn sorted<'a>(trace: &'a Trace, series: &'a Series) -> Vec<Row<'a>> {
    let texts = |ids: &[NameId]| -> Vec<&str> { ids.iter().map(|&id| trace.names.get(id)).collect() };
    let mut rows: Vec<Row<'a>> = series.rows().collect();
    rows.sort_by(|a, b| {
        b.value
            .cmp(&a.value)
            .then_with(|| texts(a.keys).cmp(&texts(b.keys)))
            .then_with(|| texts(a.stack).cmp(&texts(b.stack)))
    });
    rows
}

fn write_head(trace: &Trace, series: &Series, row: &Row<'_>, out: &mut dyn Write) -> Result<()> {
    let mut line = String::new();
    if let Some(name) = &series.name {
        text::push_line(&mut line, name);
    }
    for (key, &id) in series.keys.iter().zip(row.keys) {
        line.push_str(if line.is_empty() { "" } else { "  " });
        if let Some(name) = &key.name {
            text::push_line(&mut line, name);
            line.push('=');
        }
        text::push_line(&mut line, trace.names.get(id));
    }
    if !line.is_empty() {
        writeln!(out, "{line}")?;
    }
    for &frame in row.stack.iter().rev() {
        writeln!(out, "              {}", text::line(trace.names.get(frame)))?;
    }
    Ok(())
}

fn write_shape(series: &Series, distribution: &Distribution, out: &mut dyn Write) -> Result<()> {
    let unit = match &series.unit {
        Unit::Unknown => String::new(),
        unit => format!(" ({})", text::line(&unit.to_string())),
    };
    let rows = rows(series.function, distribution);
    let label = |row: &Line| match row {
        Line::Bucket(bucket) if bucket.low == i128::MIN => format!("< {}", bucket.high),
        Line::Bucket(bucket) if bucket.high == i128::MAX && series.function != Function::Quantize => {
            format!(">= {}", bucket.low)
        }
        Line::Bucket(bucket) => bucket.low.to_string(),
        Line::Gap => "...".into(),
    };
    let mut head = format!("value{unit}");
    // A unit is a word of the input.
    text::cut(&mut head, 0, 60);
    let widest = rows.iter().map(|row| label(row).len()).chain([16, head.len()]).max().unwrap_or(16);
    let total =
        distribution.buckets().iter().map(|bucket| bucket.count.unsigned_abs()).fold(0u128, u128::saturating_add);
    writeln!(out, "{head:>widest$}  ------------- Distribution ------------- count")?;
    for row in &rows {
        let count = match row {
            Line::Bucket(bucket) => bucket.count,
            Line::Gap => {
                writeln!(out, "{:>widest$} |", "...")?;
                continue;
            }
        };
        let length = (count.unsigned_abs() as f64 / total.max(1) as f64 * BAR as f64).round() as usize;
        let mark = if count < 0 { "-" } else { "@" };
        writeln!(out, "{:>widest$} |{:<BAR$} {count}", label(row), mark.repeat(length.min(BAR)))?;
    }
    Ok(())
}

enum Line {
    Bucket(Bucket),
    Gap,
}

/// The filled buckets with the empty ones between them, and one empty on each side, as DTrace prints them.
fn rows(function: Function, distribution: &Distribution) -> Vec<Line> {
    let buckets = distribution.buckets();
    let mut lines = Vec::new();
    let empty = |low, high| Line::Bucket(Bucket { low, high, count: 0 });
    if let Some(first) = buckets.first().filter(|first| first.low != i128::MIN) {
        let low = below(function, first);
        lines.extend((low < first.low).then(|| empty(low, first.low)));
    }
    let mut last: Option<&Bucket> = None;
    for bucket in buckets {
        if let Some(last) = last {
            let (mut low, mut drawn) = (last.high, 0);
            while low < bucket.low && drawn < LONGEST_GAP {
                let high = above(function, low, last).min(bucket.low);
                lines.push(empty(low, high));
                (low, drawn) = (high.max(low.saturating_add(1)), drawn + 1);
            }
            if low < bucket.low {
                lines.push(Line::Gap);
            }
        }
        lines.push(Line::Bucket(*bucket));
        last = Some(bucket);
    }
    if let Some(last) = last.filter(|last| last.high != i128::MAX) {
        lines.push(empty(last.high, above(function, last.high, last)));
    }
    lines
}

/// End of the bucket that begins at `low`.
fn above(function: Function, low: i128, before: &Bucket) -> i128 {
    match function {
        Function::Quantize if low < -1 => low / 2,
        Function::Quantize if low < 1 => low + 1,
        Function::Quantize => low.saturating_mul(2),
        _ if before.low == i128::MIN => i128::MAX,
        _ => low.saturating_add(before.high.saturating_sub(before.low)),
    }
}

/// Begin of the bucket that ends where `bucket` begins.
fn below(function: Function, bucket: &Bucket) -> i128 {
    match function {
        Function::Quantize if bucket.low > 1 => bucket.low / 2,
        Function::Quantize if bucket.low > -1 => bucket.low - 1,
        Function::Quantize => bucket.low.saturating_mul(2),
        _ if bucket.high == i128::MAX => bucket.low.saturating_sub(1),
        _ => bucket.low.saturating_sub(bucket.high.saturating_sub(bucket.low)),
    }
}

/// The sum of the values, where another aggregation with these keys tells it.
fn sum_of(trace: &Trace, series: &Series, row: &Row<'_>) -> Option<i128> {
    let sums = trace.series.iter().filter(|other| {
        other.function == Function::Sum
            && other.unit == series.unit
            && other.unit != Unit::Unknown
            && other.keys == series.keys
            && other.has_stack == series.has_stack
    });
    let mut found = sums.filter_map(|sum| sum.rows().find(|other| other.keys == row.keys && other.stack == row.stack));
    let first = found.next()?;
    // Two sums: it is not known which is that of these values.
    if found.next().is_some() { None } else { Some(first.value) }
}

fn write_summary(series: &Series, distribution: &Distribution, sum: Option<i128>, out: &mut dyn Write) -> Result<()> {
    let mut parts = vec![format!("count {}", text::thousands(distribution.count()))];
    if let Some(sum) = sum {
        parts.push(format!("sum {}", text::amount(sum, &series.unit)));
    }
    for (name, q) in [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)] {
        if let Some(bucket) = distribution.quantile(q) {
            parts.push(format!("{name} {}", range(&bucket, &series.unit)));
        }
    }
    writeln!(out, "{}", parts.join(", "))?;
    Ok(())
}

/// `512 ns to 1.024 us`: the lower bound belongs to it, the upper does not.
pub(super) fn range(bucket: &Bucket, unit: &Unit) -> String {
    match (bucket.low, bucket.high) {
        (i128::MIN, i128::MAX) => "any".into(),
        (i128::MIN, high) => format!("< {}", text::amount(high, unit)),
        (low, i128::MAX) => format!(">= {}", text::amount(low, unit)),
        (low, high) => format!("{} to {}", text::amount(low, unit), text::amount(high, unit)),
    }
}

//! The difference of distributions, bucket by bucket, for each key.

use std::io::Write;

use serde::Serialize;

use super::Comparison;
use crate::error::{Error, Result};
use crate::model::{Bucket, Distribution, Function, Trace};
use crate::units::Unit;
use crate::view::hist::range;
use crate::view::json::write_line;
use crate::view::text;

/// One key with its distributions on both sides.
struct Pair {
    /// Name of the aggregation and the keys' texts.
    name: Vec<String>,
    function: Function,
    unit: Unit,
    sides: [Distribution; 2],
}

impl Pair {
    /// Counts of all buckets that either side fills, in order.
    fn buckets(&self) -> Vec<(Bucket, [i128; 2])> {
        let mut union = Distribution::new();
        for side in &self.sides {
            side.buckets().iter().for_each(|bucket| union.add(bucket.low, bucket.high, 1));
        }
        let count = |side: &Distribution, bucket: &Bucket| {
            side.buckets()
                .iter()
                .find(|other| (other.low, other.high) == (bucket.low, bucket.high))
                .map_or(0, |found| found.count)
        };
        let [before, after] = &self.sides;
        union.buckets().iter().map(|bucket| (*bucket, [count(before, bucket), count(after, bucket)])).collect()
    }
}

/// Pairs that differ, by name.
fn pairs(comparison: &Comparison<'_>) -> Result<Vec<Pair>> {
    let mut pairs: Vec<Pair> = Vec::new();
    for (side, trace) in [comparison.before, comparison.after].into_iter().enumerate() {
        for series in trace.series.iter().filter(|series| series.is_distribution()) {
            for row in series.rows() {
                let keys = row.keys.iter().chain(row.stack).map(|&id| trace.names.get(id).to_owned());
                let name: Vec<String> = series.name.iter().cloned().chain(keys).collect();
                let found = pairs.iter().position(|pair| pair.name == name && pair.function == series.function);
                let at = found.unwrap_or_else(|| {
                    let (function, unit) = (series.function, series.unit.clone());
                    pairs.push(Pair { name, function, unit, sides: Default::default() });
                    pairs.len() - 1
                });
                let Some(pair) = pairs.get_mut(at) else { continue };
                if pair.unit != series.unit {
                    let told =
                        format!("`{}` is in {} and in {}", text::line(&pair.name.join(" ")), pair.unit, series.unit);
                    return Err(Error::Usage(format!("{told}: they cannot be compared")));
                }
                if let (Some(sum), Some(distribution)) = (pair.sides.get_mut(side), row.distribution) {
                    sum.merge(distribution);
                }
            }
        }
    }
    pairs.retain(|pair| pair.sides[0] != pair.sides[1]);
    pairs.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(pairs)
}

pub(super) fn write_table(comparison: &Comparison<'_>, out: &mut dyn Write) -> Result<()> {
    let pairs = pairs(comparison)?;
    if pairs.is_empty() {
        writeln!(out, "# no difference")?;
    }
    for (at, pair) in pairs.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}", text::line(&pair.name.join("  ")))?;
        let heads = ["BEFORE", "AFTER", "CHANGE", "VALUES"].map(String::from).to_vec();
        let rows = pair.buckets().into_iter().map(|(bucket, [before, after])| {
            let change = after.saturating_sub(before);
            let change = if change > 0 { format!("+{change}") } else { change.to_string() };
            vec![before.to_string(), after.to_string(), change, range(&bucket, &pair.unit)]
        });
        text::write_columns(out, std::iter::once(heads).chain(rows), usize::MAX)?;
        let median =
            |trace: &Distribution, q| trace.quantile(q).map_or("none".into(), |bucket| range(&bucket, &pair.unit));
        let [before, after] = &pair.sides;
        writeln!(out, "count {} -> {}", before.count(), after.count())?;
        for (name, q) in [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)] {
            writeln!(out, "{name} {} -> {}", median(before, q), median(after, q))?;
        }
    }
    comparison.write_all_notes(out)
}

#[derive(Serialize)]
struct BucketLine<'a> {
    #[serde(rename = "type")]
    kind_of_line: &'static str,
    series: &'a [String],
    unit: String,
    low: Option<i128>,
    high: Option<i128>,
    before: i128,
    after: i128,
}

pub(super) fn write_json(comparison: &Comparison<'_>, out: &mut dyn Write) -> Result<()> {
    write_line(out, &serde_json::json!({"type": "seatrace-diff", "version": 1}))?;
    let mut changed = 0u64;
    for pair in pairs(comparison)? {
        for (bucket, [before, after]) in pair.buckets().into_iter().filter(|(_, [before, after])| before != after) {
            changed += 1;
            let line = BucketLine {
                kind_of_line: "bucket",
                series: &pair.name,
                unit: pair.unit.to_string(),
                low: (bucket.low != i128::MIN).then_some(bucket.low),
                high: (bucket.high != i128::MAX).then_some(bucket.high),
                before,
                after,
            };
            write_line(out, &line)?;
        }
    }
    let count = |trace: &Trace| -> i128 {
        trace
            .series
            .iter()
            .filter(|series| series.is_distribution())
            .fold(0, |sum, series| sum.saturating_add(series.total()))
    };
    let totals = serde_json::json!({
        "type": "total", "unit": "count", "changed": changed,
        "before": count(comparison.before).to_string().parse::<serde_json::Number>().ok(),
        "after": count(comparison.after).to_string().parse::<serde_json::Number>().ok(),
    });
    write_line(out, &totals)
}

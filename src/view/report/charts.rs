//! Charts of a page: latencies by frequency, time by kind.

use super::super::heatmap::duration;
use super::super::text;
use super::rows::{kind_name, time};
use crate::model::{Heat, Workload};

/// Kinds of waits that are drawn.
const KINDS: usize = 12;

/// A horizontal bar.
pub(super) struct Bar {
    pub(super) name: String,
    pub(super) value: String,
    /// 0 to 1000.
    pub(super) width: i128,
}

/// Time by kind of wait or phase, of all statements.
pub(super) fn waits(workload: &Workload) -> Vec<Bar> {
    let mut sums: std::collections::BTreeMap<&str, i128> = std::collections::BTreeMap::new();
    for (kind, spent) in workload.classes().iter().flat_map(|class| &class.waits) {
        *sums.entry(kind).or_default() += spent;
    }
    let mut sums: Vec<(&str, i128)> = sums.into_iter().filter(|(_, spent)| *spent > 0).collect();
    sums.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let most = sums.first().map_or(1, |first| first.1);
    let bar = |&(kind, spent): &(&str, i128)| Bar {
        name: kind_name(kind),
        value: time(spent),
        width: spent.saturating_mul(1000) / most,
    };
    sums.iter().take(KINDS).map(bar).collect()
}

/// A histogram of latencies: bars from left to right.
pub(super) struct Histogram {
    pub(super) about: String,
    pub(super) columns: Vec<Column>,
    pub(super) width: i64,
}

/// One bar of it.
pub(super) struct Column {
    pub(super) x: i64,
    pub(super) y: i64,
    pub(super) height: i64,
    /// What the bar tells.
    pub(super) title: String,
    /// What stands below it; empty for most.
    pub(super) label: String,
}

/// Height of the highest bar.
const HEIGHT: i64 = 180;
/// Width of a bar with the gap after it.
const STEP: i64 = 26;

/// How many statements took how long. Where only distributions are known, by their buckets.
pub(super) fn histogram(workload: &Workload, heat: &Heat) -> Option<Histogram> {
    let mut bars: Vec<(String, String, i128)> = Vec::new();
    let rows: Vec<(u8, u64)> = if workload.latency.count > 0 { workload.heat.rows() } else { heat.rows() }.collect();
    if let (Some(&(first, _)), Some(&(last, _))) = (rows.first(), rows.last()) {
        for row in first..=last {
            let count = rows.iter().find(|found| found.0 == row).map_or(0, |found| found.1);
            let range = format!("{} to {}", duration(Heat::lower(row)), duration(Heat::lower(row + 1)));
            let label = if row % 3 == 0 || row == first { duration(Heat::lower(row)) } else { String::new() };
            bars.push((range, label, count.into()));
        }
    } else {
        let mut all = crate::model::Distribution::new();
        workload.classes().iter().for_each(|class| all.merge(&class.spread));
        for (at, bucket) in all.buckets().iter().enumerate() {
            let low = time(bucket.low.max(0));
            let label = if at % 3 == 0 { low.clone() } else { String::new() };
            bars.push((format!("{low} to {}", time(bucket.high)), label, bucket.count));
        }
    }
    let most = bars.iter().map(|bar| bar.2).max().filter(|&most| most > 0)?;
    let total = bars.iter().fold(0, |sum: i128, bar| sum.saturating_add(bar.2));
    let fullest = bars.iter().find(|bar| bar.2 == most).map_or("", |bar| &bar.0);
    let about = format!("{} in all; most, {}, took {fullest}", text::thousands(total), text::thousands(most));
    let column = |(at, (range, label, count)): (i64, (String, String, i128))| {
        let height = i64::try_from(count.max(0).saturating_mul(HEIGHT.into()) / most).unwrap_or(0);
        let height = if count > 0 { height.max(1) } else { 0 };
        let title = format!("{range}: {}", text::thousands(count));
        Column { x: at * STEP, y: HEIGHT - height, height, title, label }
    };
    let width = i64::try_from(bars.len()).unwrap_or(0) * STEP + 60;
    Some(Histogram { about, width, columns: (0..).zip(bars).map(column).collect() })
}

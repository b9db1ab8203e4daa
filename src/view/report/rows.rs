//! The lines of the digest in a page.

use super::super::digest::{name, ranked};
use super::super::{Options, text};
use crate::model::{Class, NameId, Workload};

/// So many kinds of statements are shown unless `--top` says otherwise: pages stay small.
const TOP: usize = 400;
/// Characters of a fingerprint and of a sample.
const LONGEST: usize = 1500;
/// Characters that stand in the table itself.
const SHORT: usize = 160;

/// One kind of statements.
pub(super) struct Row {
    pub(super) rank: usize,
    pub(super) id: String,
    pub(super) short: String,
    pub(super) fingerprint: String,
    pub(super) sample: String,
    pub(super) facts: Vec<String>,
    pub(super) cells: Vec<Cell>,
}

/// A number: as shown, and as sorted.
pub(super) struct Cell {
    pub(super) shown: String,
    pub(super) value: i128,
    /// Width of a bar behind it, 0 to 100.
    pub(super) bar: Option<i128>,
}

fn cell(value: i128, shown: String) -> Cell {
    Cell { shown, value, bar: None }
}

/// The rows, and what is not among them.
pub(super) fn rows(workload: &Workload, options: &Options) -> (Vec<Row>, Option<String>) {
    let classes = ranked(workload, options.sort);
    let top = match options.digest.top {
        Some(0) => classes.len(),
        top => top.unwrap_or(TOP).min(classes.len()),
    };
    let (shown, hidden) = classes.split_at_checked(top).unwrap_or((&classes, &[]));
    let total = workload.total();
    let rows = (1..).zip(shown).map(|(rank, class)| row(rank, class, total, workload)).collect();
    let hidden = (!hidden.is_empty()).then(|| {
        let count: u64 = hidden.iter().map(|class| class.count).sum();
        let time: i128 = hidden.iter().map(|class| class.total()).sum();
        let (kinds, count) = (text::thousands(hidden.len() as i128), text::thousands(count.into()));
        format!("{kinds} more kinds with {count} statements and {} in all are not shown.", self::time(time))
    });
    (rows, hidden)
}

fn row(rank: usize, class: &Class, total: i128, workload: &Workload) -> Row {
    let share = if total > 0 { class.total().saturating_mul(1000) / total } else { 0 };
    let upper = |q: f64| class.quantile(q).map_or(0, |bounds| bounds.1);
    let quantile = |q: f64| cell(upper(q), class.quantile(q).map_or_else(|| "–".into(), shown));
    let rows = |at: usize| class.rows.get(at).copied().flatten();
    let known = |value: Option<u64>| match value {
        Some(value) => cell(value.into(), text::thousands(value.into())),
        None => cell(-1, "–".into()),
    };
    let bounds = class.bounds();
    let cells = vec![
        Cell { shown: text::percent(class.total(), total) + "%", value: class.total(), bar: Some(share / 10) },
        cell(class.count.into(), text::thousands(class.count.into())),
        cell(class.total(), time(class.total())),
        cell(class.average(), time(class.average())),
        quantile(0.95),
        cell(bounds.map_or(0, |bounds| bounds.1), bounds.map_or_else(|| "–".into(), |bounds| time(bounds.1))),
        known(rows(1)),
        known(class.errors),
    ];
    let fingerprint = cut(name(class), LONGEST);
    Row {
        rank,
        id: class.id(),
        short: cut(name(class), SHORT),
        sample: cut(&class.sample, LONGEST),
        fingerprint,
        facts: facts(class, workload),
        cells,
    }
}

/// A value, or the bounds between which it lies.
fn shown((low, high): (i128, i128)) -> String {
    if low == high { time(low) } else { format!("{} – {}", time(low), time(high)) }
}

fn facts(class: &Class, workload: &Workload) -> Vec<String> {
    let mut facts = Vec::new();
    let quantile = |q: f64| class.quantile(q).map_or_else(|| "–".into(), shown);
    if let Some((min, max)) = class.bounds() {
        let (min, max) = (time(min), time(max));
        let (half, most, nearly) = (quantile(0.5), quantile(0.95), quantile(0.99));
        facts.push(format!("Time: least {min}, half at most {half}, 95% {most}, 99% {nearly}, longest {max}"));
    }
    let mut waits: Vec<(&String, i128)> = class.waits.iter().map(|(kind, &time)| (kind, time)).collect();
    waits.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    if !waits.is_empty() {
        let told: Vec<String> =
            waits.iter().map(|(kind, spent)| format!("{} {}", kind_name(kind), time(*spent))).collect();
        facts.push(format!("Time by kind: {}", told.join(", ")));
    }
    if let Some(locked) = class.lock_time {
        facts.push(format!("Waited for table locks: {}", time(locked.into())));
    }
    let [sent, examined, affected] =
        class.rows.map(|rows| rows.map_or_else(|| "?".into(), |rows| text::thousands(rows.into())));
    if class.rows.iter().any(Option::is_some) {
        facts.push(format!("Rows: read {examined}, sent {sent}, changed {affected}"));
    }
    if class.nested.0 > 0 {
        facts.push(format!("Inside other statements: {}", text::thousands(class.nested.0.into())));
    }
    if class.cut > 0 {
        facts.push(format!("Texts cut: {}", text::thousands(class.cut.into())));
    }
    for (what, found) in [("Databases", &class.databases), ("Accounts", &class.users)] {
        let mut found: Vec<(&str, u64)> =
            found.iter().map(|(&name, &count): (&NameId, &u64)| (workload.names.get(name), count)).collect();
        found.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        let told: Vec<String> = found
            .iter()
            .take(8)
            .map(|(name, count)| format!("{} ({})", text::line(name), text::thousands((*count).into())))
            .collect();
        if !told.is_empty() {
            let more = if found.len() > 8 { format!(" and {} more", found.len() - 8) } else { String::new() };
            facts.push(format!("{what}: {}{more}", told.join(", ")));
        }
    }
    facts
}

/// A kind of wait as people read it: the steps of a path with arrows.
pub(super) fn kind_name(kind: &str) -> String {
    text::line(kind).replace(';', " › ")
}

/// A duration with three figures or so: `12.3 ms`.
pub(super) fn time(nanoseconds: i128) -> String {
    let size = nanoseconds.unsigned_abs();
    let (divisor, word) = match size {
        0 => return "0".into(),
        1..1_000 => (1u128, "ns"),
        1_000..1_000_000 => (1_000, "µs"),
        1_000_000..1_000_000_000 => (1_000_000, "ms"),
        1_000_000_000..600_000_000_000 => (1_000_000_000, "s"),
        600_000_000_000..36_000_000_000_000 => (60_000_000_000, "min"),
        _ => (3_600_000_000_000, "h"),
    };
    let whole = size / divisor;
    let decimals = if divisor == 1 || whole >= 100 {
        0
    } else if whole >= 10 {
        1
    } else {
        2
    };
    let sign = if nanoseconds < 0 { "-" } else { "" };
    format!("{sign}{:.decimals$} {word}", size as f64 / divisor as f64)
}

/// Text on one line, cut.
pub(super) fn cut(words: &str, limit: usize) -> String {
    let mut line = text::line(words).into_owned();
    text::cut(&mut line, 0, limit);
    line
}

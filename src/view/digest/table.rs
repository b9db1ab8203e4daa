//! The digest for people: a table of one line a class, then the details of each.

use std::io::Write;

use super::super::{Options, text};
use super::{name, ranked};
use crate::error::Result;
use crate::model::{Class, ClassKind, NameId, Trace, Workload};

/// Classes that are shown unless `--top` says otherwise.
const TOP: usize = 20;
/// Characters of a sample, unless `--wide` asks for all.
const SAMPLE: usize = 2000;
/// Databases and accounts that are named.
const NAMED: usize = 5;

/// Writes the table.
pub(super) fn table(
    workload: &Workload,
    said: &[String],
    trace: &Trace,
    options: &Options,
    out: &mut dyn Write,
) -> Result<()> {
    let classes = ranked(workload, options.sort);
    let (sql, others): (Vec<&Class>, Vec<&Class>) = classes.into_iter().partition(|class| class.kind == ClassKind::Sql);
    let top = options.digest.top.unwrap_or(TOP);
    let shown = if top == 0 { sql.len() } else { top.min(sql.len()) };
    let (shown, hidden) = sql.split_at_checked(shown).unwrap_or((&sql, &[]));
    let lines = Lines { workload, total: workload.total(), columns: options.columns.filter(|_| !options.wide) };
    lines.head(trace, options, sql.len(), out)?;
    for (rank, class) in (1..).zip(shown) {
        lines.class(&format!("{rank}"), class, out)?;
    }
    if !hidden.is_empty() {
        let count = hidden.iter().map(|class| class.count).sum();
        let time = hidden.iter().map(|class| class.total()).sum();
        lines.line("", time, count, "", &format!("{} more kinds (--top 0 shows all)", hidden.len()), out)?;
    }
    for class in others {
        lines.class("", class, out)?;
    }
    let all = &workload.latency;
    let spread = if all.count == workload.count() && all.count > 0 {
        [i128::from(all.average()), all.quantile(0.95).into(), all.max.into()].map(milliseconds).concat()
    } else {
        String::new()
    };
    lines.line("", lines.total, workload.count(), &spread, "total", out)?;
    for (rank, class) in (1..).zip(shown) {
        details(rank, class, workload, options, out)?;
    }
    for note in trace.notes.iter().map(ToString::to_string).chain(said.iter().cloned()) {
        writeln!(out, "# note: {}", text::line(&note))?;
    }
    Ok(())
}

/// A column of milliseconds.
fn milliseconds(nanoseconds: i128) -> String {
    format!(" {:>10}", text::milliseconds(nanoseconds))
}

struct Lines<'a> {
    workload: &'a Workload,
    total: i128,
    columns: Option<usize>,
}

impl Lines<'_> {
    fn head(&self, trace: &Trace, options: &Options, kinds: usize, out: &mut dyn Write) -> Result<()> {
        let count = text::thousands(self.workload.count().into());
        let time = text::milliseconds(self.total);
        writeln!(out, "# {count} statements, {kinds} kinds of SQL, together {time} ms")?;
        if let Some((first, last)) = self.workload.range {
            let zone = if options.utc { 0 } else { trace.heading.zone.unwrap_or(0) };
            let mut clock = text::Clock::new(zone);
            let mut stamp = |time: i64| {
                let (date, time, _) = clock.read(time);
                format!("{date} {time}")
            };
            let (first, last) = (stamp(first), stamp(last));
            writeln!(out, "# ended from {first} to {last} {}", clock.zone())?;
        }
        let (nested, time) = self.workload.nested();
        if nested > 0 {
            let rest = text::milliseconds(self.total - i128::from(time));
            let time = text::milliseconds(time.into());
            let nested = text::thousands(nested.into());
            writeln!(
                out,
                "# {nested} of them ran inside others, {time} ms; without these (--top-level-only) {rest} ms"
            )?;
        }
        if !self.workload.latency_is_exact() {
            writeln!(out, "# A..B: only the bucket is known in which the value lies; ~: estimated from buckets")?;
        }
        writeln!(out, "rank  share    total ms      count     avg ms     p95 ms     max ms  query")?;
        Ok(())
    }

    fn class(&self, rank: &str, class: &Class, out: &mut dyn Write) -> Result<()> {
        let p95 = class.quantile(0.95);
        let max = class.bounds().map(|bounds| bounds.1);
        let mut spread = milliseconds(class.average());
        match p95 {
            Some((low, high)) if low != high => spread.push_str(&format!(" <{:>9}", text::milliseconds(high))),
            Some((value, _)) => spread.push_str(&milliseconds(value)),
            None => spread.push_str(&format!(" {:>10}", "-")),
        }
        spread.push_str(&max.map_or_else(|| format!(" {:>10}", "-"), milliseconds));
        self.line(rank, class.total(), class.count, &spread, name(class), out)
    }

    fn line(&self, rank: &str, time: i128, count: u64, spread: &str, query: &str, out: &mut dyn Write) -> Result<()> {
        let share = text::percent(time, self.total);
        let count = text::thousands(count.into());
        let mut line = format!("{rank:>4} {share:>6} {:>11} {count:>10}{spread:33}  ", text::milliseconds(time));
        let from = line.len();
        text::push_line(&mut line, query);
        if let Some(columns) = self.columns {
            text::cut(&mut line, from, columns.saturating_sub(from).max(20));
        }
        writeln!(out, "{line}")?;
        Ok(())
    }
}

fn details(rank: usize, class: &Class, workload: &Workload, options: &Options, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "\n# {rank}  {}", class.id())?;
    writeln!(out, "  {}", text::line(name(class)))?;
    let quantile = |q: f64| match class.quantile(q) {
        Some((low, high)) if low == high => text::milliseconds(low),
        Some((low, high)) => format!("{}..{}", text::milliseconds(low), text::milliseconds(high)),
        None => "-".into(),
    };
    let (min, max) = match class.bounds() {
        Some((min, max)) => (text::milliseconds(min), text::milliseconds(max)),
        None => ("-".into(), "-".into()),
    };
    let average = text::milliseconds(class.average());
    let about = if class.is_estimated() { "~" } else { "" };
    let (p50, p95, p99) = (quantile(0.5), quantile(0.95), quantile(0.99));
    writeln!(out, "  ms: min {min}, avg {about}{average}, p50 {p50}, p95 {p95}, p99 {p99}, max {max}")?;
    let facts = facts(class);
    if !facts.is_empty() {
        writeln!(out, "  {}", facts.join(", "))?;
    }
    let mut where_from = Vec::new();
    for (what, found) in [("databases", &class.databases), ("users", &class.users)] {
        if !found.is_empty() {
            where_from.push(format!("{what}: {}", names(found.iter(), workload)));
        }
    }
    if !where_from.is_empty() {
        writeln!(out, "  {}", where_from.join("; "))?;
    }
    if !class.waits.is_empty() {
        writeln!(out, "  time by kind: {}", waits(class))?;
    }
    let mut sample = String::new();
    text::push_line(&mut sample, &class.sample);
    if !options.wide {
        text::cut(&mut sample, 0, SAMPLE);
    }
    writeln!(out, "  sample: {sample}")?;
    Ok(())
}

/// What is known of errors, rows and locks.
fn facts(class: &Class) -> Vec<String> {
    let mut facts = Vec::new();
    let mut say = |what: &str, value: Option<u64>| {
        if let Some(value) = value {
            facts.push(format!("{what} {}", text::thousands(value.into())));
        }
    };
    say("errors", class.errors);
    let [sent, examined, affected] = class.rows;
    say("rows sent", sent);
    say("rows examined", examined);
    say("rows affected", affected);
    say("cut texts", Some(class.cut).filter(|&cut| cut > 0));
    say("inside other statements", Some(class.nested.0).filter(|&nested| nested > 0));
    if class.inside > 0 {
        let own = i128::from(class.latency.total) - i128::from(class.inside);
        facts.push(format!("without what ran inside {} ms", text::milliseconds(own.max(0))));
    }
    if let Some(locked) = class.lock_time {
        facts.push(format!("waited for locks {} ms", text::milliseconds(locked.into())));
    }
    facts
}

fn waits(class: &Class) -> String {
    let mut waits: Vec<(&String, i128)> = class.waits.iter().map(|(kind, &time)| (kind, time)).collect();
    waits.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let told: Vec<String> =
        waits.iter().map(|(kind, time)| format!("{} {} ms", text::line(kind), text::milliseconds(*time))).collect();
    told.join(", ")
}

/// `shop (12), blog (3) and 4 more`.
fn names<'a>(found: impl Iterator<Item = (&'a NameId, &'a u64)>, workload: &Workload) -> String {
    let mut found: Vec<(&str, u64)> = found.map(|(&name, &count)| (workload.names.get(name), count)).collect();
    found.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let more = found.len().saturating_sub(NAMED);
    let told: Vec<String> = found
        .iter()
        .take(NAMED)
        .map(|(name, count)| format!("{} ({})", text::line(name), text::thousands((*count).into())))
        .collect();
    if more > 0 { format!("{} and {more} more", told.join(", ")) } else { told.join(", ") }
}

//! The difference of two sets of queries, by digest: what takes more time comes first, then what is new, gone, or takes less.
//!
//! A kind of statement that has the same number, total and p95 on both sides is not shown: the difference of a log and itself is empty.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::Write;

use serde_json::json;

use super::json::write_line;
use super::{Options, text};
use crate::error::{Error, Result};
use crate::model::{Class, ClassKind, Trace, Workload};

/// Kinds of statements in a table unless `--top` says otherwise.
const TOP: usize = 50;

/// One kind of statement on both sides.
struct Change<'a> {
    before: Option<&'a Class>,
    after: Option<&'a Class>,
}

/// What is compared of one side.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Figures {
    count: u64,
    total: i128,
    p95: i128,
}

impl Figures {
    fn of(class: Option<&Class>) -> Figures {
        class.map_or_else(Figures::default, |class| Figures {
            count: class.count,
            total: class.total(),
            p95: class.quantile(0.95).map_or(0, |bounds| bounds.1),
        })
    }
}

impl Change<'_> {
    fn figures(&self) -> (Figures, Figures) {
        (Figures::of(self.before), Figures::of(self.after))
    }

    /// Time that was added; below 0 if it takes less.
    fn added(&self) -> i128 {
        let (before, after) = self.figures();
        after.total.saturating_sub(before.total)
    }

    fn class(&self) -> Option<&Class> {
        self.after.or(self.before)
    }

    fn word(&self) -> &'static str {
        match (self.before, self.after) {
            (None, _) => "new",
            (_, None) => "gone",
            _ => "",
        }
    }

    fn name(&self) -> &str {
        match self.class() {
            Some(class) if class.kind == ClassKind::Empty => "(no statement text)",
            Some(class) => &class.fingerprint,
            None => "",
        }
    }
}

/// Writes the difference as a table or as JSON.
pub(super) fn write(before: &Trace, after: &Trace, form: &str, options: &Options, out: &mut dyn Write) -> Result<()> {
    let (before, after) = (workload(before), workload(after));
    let changes = changes(&before, &after);
    match form {
        "table" => table(&before, &after, &changes, options, out),
        "json" => lines_of_json(&before, &after, &changes, options, out),
        form => Err(Error::Usage(format!("queries are compared by digest: -f table or json, not {form}"))),
    }
}

fn workload(trace: &Trace) -> Workload {
    let mut workload = Workload::default();
    trace.queries.iter().for_each(|query| workload.add(query));
    workload.join(trace);
    workload
}

/// The kinds that changed, most added time first.
fn changes<'a>(before: &'a Workload, after: &'a Workload) -> Vec<Change<'a>> {
    let mut all: BTreeMap<(ClassKind, &str), Change<'a>> = BTreeMap::new();
    for class in before.classes() {
        all.insert((class.kind, &class.fingerprint), Change { before: Some(class), after: None });
    }
    for class in after.classes() {
        let none = Change { before: None, after: None };
        all.entry((class.kind, &class.fingerprint)).or_insert(none).after = Some(class);
    }
    let mut changes: Vec<Change<'a>> = all
        .into_values()
        .filter(|change| {
            let (before, after) = change.figures();
            before != after
        })
        .collect();
    changes.sort_by_cached_key(|change| (Reverse(change.added()), change.name().to_owned()));
    changes
}

fn table(
    before: &Workload,
    after: &Workload,
    changes: &[Change<'_>],
    options: &Options,
    out: &mut dyn Write,
) -> Result<()> {
    for (side, workload) in [("before", before), ("after", after)] {
        let (count, total) = (text::thousands(workload.count().into()), text::milliseconds(workload.total()));
        writeln!(out, "# {side}: {count} statements, {} kinds, together {total} ms", workload.classes().len())?;
    }
    if changes.is_empty() {
        return Ok(());
    }
    let top = options.digest.top.unwrap_or(TOP);
    let top = if top == 0 { changes.len() } else { top };
    writeln!(
        out,
        "   added ms       count before > after  total ms before > after  p95 ms before > after        query"
    )?;
    for change in changes.iter().take(top) {
        let (old, new) = change.figures();
        let pair = |old: String, new: String| format!("{old:>10} > {new:<10}");
        let count = pair(text::thousands(old.count.into()), text::thousands(new.count.into()));
        let total = pair(text::milliseconds(old.total), text::milliseconds(new.total));
        let p95 = pair(text::milliseconds(old.p95), text::milliseconds(new.p95));
        let mut line = format!("{:>11} {count} {total} {p95} {:<5}", signed(change.added()), change.word());
        let from = line.len();
        text::push_line(&mut line, change.name());
        if let Some(columns) = options.columns.filter(|_| !options.wide) {
            text::cut(&mut line, from, columns.saturating_sub(from).max(20));
        }
        writeln!(out, "{line}")?;
    }
    if let Some(hidden) = changes.get(top..).filter(|hidden| !hidden.is_empty()) {
        let added = hidden.iter().map(Change::added).fold(0, i128::saturating_add);
        writeln!(out, "{:>11} in {} more kinds (--top 0 shows all)", signed(added), hidden.len())?;
    }
    Ok(())
}

/// Milliseconds with a sign, unless 0.
fn signed(nanoseconds: i128) -> String {
    let words = text::milliseconds(nanoseconds);
    if nanoseconds > 0 { format!("+{words}") } else { words }
}

fn lines_of_json(
    before: &Workload,
    after: &Workload,
    changes: &[Change<'_>],
    options: &Options,
    out: &mut dyn Write,
) -> Result<()> {
    let number = |value: i128| i64::try_from(value).unwrap_or(i64::MAX);
    let top = options.digest.top.filter(|&top| top > 0).unwrap_or(changes.len());
    write_line(out, &json!({ "type": "seatrace-diff", "version": 1 }))?;
    for change in changes.iter().take(top) {
        let (old, new) = change.figures();
        let side = |figures: Figures| json!({ "count": figures.count, "total_ns": number(figures.total), "p95_ns": number(figures.p95) });
        let line = json!({
            "type": "statement",
            "id": change.class().map(Class::id),
            "fingerprint": change.name(),
            "added_ns": number(change.added()),
            "before": change.before.map(|_| side(old)),
            "after": change.after.map(|_| side(new)),
        });
        write_line(out, &line)?;
    }
    let side = |workload: &Workload| json!({ "count": workload.count(), "total_ns": number(workload.total()) });
    write_line(out, &json!({ "type": "total", "before": side(before), "after": side(after) }))
}

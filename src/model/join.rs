//! What aggregations tell of statements, joined to the classes of a [`Workload`].
//!
//! An aggregation counts if one of its keys is called `query` or `statement`. Its distributions and sums of time are statements
//! themselves, unless the trace holds records too: then they tell the same statements once more and are left out. Sums with a further
//! key (`phase`, `wait`) or with stacks are time by kind.

use super::{Function, Row, Series, Trace, Workload};
use crate::units::Unit;

/// Keys that say what a statement waited for.
const KINDS: [&str; 5] = ["phase", "wait", "kind", "reason", "state"];

/// What an aggregation tells.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    /// Statements as distributions of their times.
    Spread,
    /// How many statements.
    Count,
    /// Sum of their times.
    Total,
    /// Least and greatest time.
    Bound,
    /// Time by kind.
    Waits,
    /// Nothing about statements.
    Nothing,
}

/// Where the keys are.
struct Keys {
    query: usize,
    database: Option<usize>,
    kind: Option<usize>,
    /// The call in which a thread waited: a frame on top of the stack.
    call: Option<usize>,
    /// There are keys that statements do not have: a part of their time is told.
    partial: bool,
}

impl Keys {
    fn of(series: &Series) -> Option<Keys> {
        let at = |names: &[&str]| {
            let named = |key: &super::Key| key.name.as_deref().is_some_and(|name| names.contains(&name));
            series.keys.iter().position(named)
        };
        let whole = ["query", "statement", "database", "user", "host"];
        let partial = series.keys.iter().any(|key| key.name.as_deref().is_none_or(|name| !whole.contains(&name)));
        Some(Keys {
            query: at(&["query", "statement"])?,
            database: at(&["database"]),
            kind: at(&KINDS),
            call: at(&["call"]),
            partial,
        })
    }
}

fn told(series: &Series, keys: &Keys) -> Told {
    let is_time = series.unit.picoseconds().is_some();
    let by_kind = keys.partial || series.has_stack;
    match series.function {
        Function::Sum if is_time && by_kind => Told::Waits,
        Function::Sum if is_time => Told::Total,
        Function::Count if series.unit == Unit::Count && !by_kind => Told::Count,
        Function::Min | Function::Max if is_time && !by_kind => Told::Bound,
        function if function.is_distribution() && is_time && !by_kind => Told::Spread,
        _ => Told::Nothing,
    }
}

impl Workload {
    /// Joins the aggregations of a trace. Says in sentences what was left out.
    pub fn join(&mut self, trace: &Trace) -> Vec<String> {
        let mut said = Vec::new();
        let joined: Vec<(&Series, Keys, Told)> = trace
            .series
            .iter()
            .filter(|series| !series.is_empty())
            .filter_map(|series| Keys::of(series).map(|keys| (series, keys)))
            .map(|(series, keys)| {
                let told = told(series, &keys);
                (series, keys, told)
            })
            .collect();
        let have_spread = joined.iter().any(|(_, _, told)| *told == Told::Spread);
        for (series, keys, told) in &joined {
            let name = series.name.as_deref().unwrap_or("without name");
            if *told != Told::Waits && *told != Told::Nothing && trace.query_count > 0 {
                said.push(format!("aggregation {name} tells the statements that stand as records, left out"));
                continue;
            }
            // Where distributions are told, they hold the counts already.
            if *told == Told::Count && have_spread {
                continue;
            }
            for row in series.rows() {
                self.join_row(trace, series, keys, *told, &row);
            }
        }
        said
    }

    fn join_row(&mut self, trace: &Trace, series: &Series, keys: &Keys, told: Told, row: &Row<'_>) {
        let text = |at: usize| row.keys.get(at).map_or("", |&id| trace.names.get(id));
        let nanoseconds = |value: i128| match series.unit.picoseconds() {
            Some(scale) => value.saturating_mul(scale) / 1000,
            None => value,
        };
        let database = keys.database.map(text).filter(|name| !name.is_empty());
        let database = database.map(|name| self.names.text(name.as_bytes()));
        let kind = match keys.kind.map(text) {
            Some(path) => path.to_owned(),
            // The bundled script query-sort: time of filesorts by table and statement.
            None if series.name.as_deref() == Some("qs_total") => "sort".into(),
            None if !series.has_stack => series.name.clone().unwrap_or_default(),
            None => {
                let stack = row.stack.iter().map(|&id| trace.names.get(id));
                super::wait_kind::of_stack(keys.call.map(text).into_iter().chain(stack)).to_owned()
            }
        };
        let class = self.class_of_text(text(keys.query));
        let count = match told {
            Told::Spread => row.distribution.map_or(0, |spread| spread.count()),
            Told::Count => row.value,
            _ => 0,
        };
        let count = u64::try_from(count).unwrap_or(0);
        class.count = class.count.saturating_add(count);
        if let Some(database) = database.filter(|_| count > 0) {
            *class.databases.entry(database).or_default() += count;
        }
        match told {
            Told::Spread => {
                for bucket in row.distribution.iter().flat_map(|spread| spread.buckets()) {
                    class.spread.add(nanoseconds(bucket.low), nanoseconds(bucket.high), bucket.count);
                }
            }
            Told::Total => {
                class.told_total = Some(class.told_total.unwrap_or(0).saturating_add(nanoseconds(row.value)))
            }
            Told::Bound => class.told_bounds.push(nanoseconds(row.value)),
            Told::Waits => *class.waits.entry(kind).or_default() += nanoseconds(row.value),
            Told::Count | Told::Nothing => {}
        }
    }
}

//! Statement digests: classes of statements that the server has counted itself.
//!
//! They become series called `statements`, keyed by database and digest text: times (sum, and min and max where exported) and calls.
//! The row with a NULL digest counts all statements for which the server's table had no room: `[digest table full]`.

use std::collections::HashMap;

use super::super::client_table::Row;
use super::{number, text, time};
use crate::model::{Function, Key, KeyKind, NameId, Trace, Value};
use crate::units::Unit;

/// What a view calls the class of all statements that found no room.
const FULL: &[u8] = b"[digest table full]";

/// Where the columns are.
pub(super) struct Columns {
    database: Option<usize>,
    digest: Option<usize>,
    text: Option<usize>,
    time: Option<usize>,
    numbers: Vec<(usize, Function, Unit)>,
}

impl Columns {
    pub(super) fn find(names: &[String]) -> Option<Columns> {
        let at = |name: &str| names.iter().position(|found| found == name);
        let (digest, text) = (at("digest"), at("digest_text"));
        let (count, time) = (at("count_star"), at("sum_timer_wait"));
        if (digest.is_none() && text.is_none()) || (count.is_none() && time.is_none()) {
            return None;
        }
        let number = |name: &str, function, unit: Unit| at(name).map(|column| (column, function, unit));
        let numbers = [
            number("count_star", Function::Count, Unit::Count),
            number("min_timer_wait", Function::Min, Unit::Picoseconds),
            number("avg_timer_wait", Function::Avg, Unit::Picoseconds),
            number("max_timer_wait", Function::Max, Unit::Picoseconds),
        ];
        Some(Columns {
            database: at("schema_name"),
            digest,
            text,
            time,
            numbers: numbers.into_iter().flatten().collect(),
        })
    }
}

/// Which digest has which text: cut texts of different statements can be equal.
#[derive(Default)]
pub(super) struct Digests {
    known: HashMap<(Vec<u8>, Vec<u8>), Vec<u8>>,
}

impl Digests {
    pub(super) fn row(&mut self, columns: &Columns, row: &Row, trace: &mut Trace) {
        let sum = match columns.time {
            Some(column) => match time(row, column, trace) {
                Some(time) => Some(time),
                None => return,
            },
            None => None,
        };
        let keys = self.keys(columns, row, trace);
        let kinds = ["database", "statement"].map(|name| Key { name: Some(name.to_owned()), kind: KeyKind::Text });
        let mut add = |function, unit, value| {
            let series = trace.series(Some("statements"), function, unit, &kinds, false);
            trace.row(series, &keys, &[], Value::Number(value));
        };
        if let Some(sum) = sum {
            add(Function::Sum, Unit::Picoseconds, sum);
        }
        for (column, function, unit) in &columns.numbers {
            if let Some(value) = text(row, Some(*column)).and_then(number) {
                add(*function, unit.clone(), value);
            }
        }
    }

    /// Database and text of the row's class. Equal texts of different digests are told apart by the digest's first letters.
    fn keys(&mut self, columns: &Columns, row: &Row, trace: &mut Trace) -> [NameId; 2] {
        let database = text(row, columns.database).unwrap_or(b"").to_vec();
        let digest = text(row, columns.digest);
        let statement = text(row, columns.text).map(<[u8]>::trim_ascii).or(digest).unwrap_or(FULL).to_vec();
        if statement.ends_with(b"...") {
            trace.loss(
                "digest text cut by the server (it ends in `...`): see performance_schema_max_digest_length",
                row.line,
            );
        }
        if statement == FULL {
            trace.notes.info("the server's table of digests was full: later statements are counted together as `[digest table full]`");
        }
        let mut name = statement.clone();
        let digest = digest.unwrap_or(b"").to_vec();
        let first = self.known.entry((database.clone(), statement)).or_insert_with(|| digest.clone());
        if *first != digest {
            name.extend_from_slice(b" [");
            name.extend_from_slice(digest.get(..8).unwrap_or(&digest));
            name.push(b']');
        }
        [trace.names.text(&database), trace.names.text(&name)]
    }
}

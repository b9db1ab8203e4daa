//! Statement histories as query records. The tables have no connection and no wall time: those stay unknown.

use std::borrow::Cow;

use super::super::client_table::Row;
use super::{count, text, time};
use crate::error::Result;
use crate::model::{Query, QueryKind, Trace};

/// Where the columns are.
pub(super) struct Columns {
    text: usize,
    time: usize,
    name: Option<usize>,
    thread: Option<usize>,
    lock: Option<usize>,
    database: Option<usize>,
    sent: Option<usize>,
    examined: Option<usize>,
    affected: Option<usize>,
    errno: Option<usize>,
    errors: Option<usize>,
}

impl Columns {
    pub(super) fn find(names: &[String]) -> Option<Columns> {
        let at = |name: &str| names.iter().position(|found| found == name);
        Some(Columns {
            text: at("sql_text")?,
            time: at("timer_wait")?,
            name: at("event_name"),
            thread: at("thread_id"),
            lock: at("lock_time"),
            database: at("current_schema"),
            sent: at("rows_sent"),
            examined: at("rows_examined"),
            affected: at("rows_affected"),
            errno: at("mysql_errno"),
            errors: at("errors"),
        })
    }

    pub(super) fn row(&self, row: &Row, trace: &mut Trace) -> Result<()> {
        let Some(time) = time(row, self.time, trace) else { return Ok(()) };
        if time % 1000 != 0 {
            trace.notes.info("times of statements are rounded from picoseconds to nanoseconds");
        }
        let name = text(row, self.name).map(String::from_utf8_lossy).unwrap_or_default();
        let sql = text(row, Some(self.text)).map(String::from_utf8_lossy);
        let command = name.strip_prefix("statement/com/").filter(|_| sql.is_none());
        let cut = sql.as_ref().is_some_and(|sql| sql.ends_with("..."));
        if cut {
            trace.loss(
                "statement cut by the server (it ends in `...`): see performance_schema_max_sql_text_length",
                row.line,
            );
        }
        let kind = if command.is_some() { QueryKind::Admin } else { QueryKind::Direct };
        let mut attributes: Vec<(Cow<'_, str>, Cow<'_, str>)> = Vec::new();
        for (word, column) in [("Thread_id", self.thread), ("Errors", self.errors)] {
            attributes.extend(text(row, column).map(|value| (word.into(), String::from_utf8_lossy(value))));
        }
        let failed = count(row, self.errors);
        trace.query(Query {
            elapsed: Some(nanoseconds(time)),
            lock_time: count(row, self.lock).map(|time| nanoseconds(time.into())),
            database: text(row, self.database).map(String::from_utf8_lossy),
            rows_sent: count(row, self.sent),
            rows_examined: count(row, self.examined),
            rows_affected: count(row, self.affected),
            status: count(row, self.errno)
                .or(failed.filter(|&errors| errors == 0))
                .and_then(|code| i64::try_from(code).ok()),
            kind,
            text: command.map(Cow::from).or(sql).unwrap_or_default(),
            cut,
            attributes,
            ..Query::default()
        })
    }
}

fn nanoseconds(picoseconds: i128) -> u64 {
    u64::try_from(picoseconds.saturating_add(500) / 1000).unwrap_or(u64::MAX)
}

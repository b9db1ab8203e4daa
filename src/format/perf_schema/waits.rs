//! Waits, stages and other events as a flat list: five frames for a wait, and what of the total is only idleness.

use super::super::client_table::Row;
use super::{text, time, time_column};
use crate::model::{Function, Key, KeyKind, NameId, Severity, Trace, Value};
use crate::units::Unit;

/// Columns of a history, or of a summary by event name and perhaps by user or host.
pub(super) struct Columns {
    name: usize,
    time: usize,
    /// Counts calls where the table has no times.
    unit: Unit,
    keys: Vec<(usize, Key)>,
}

impl Columns {
    pub(super) fn find(names: &[String]) -> Option<Columns> {
        let at = |name: &str| names.iter().position(|found| found == name);
        let key =
            |name: &str| at(name).map(|column| (column, Key { name: Some(name.to_owned()), kind: KeyKind::Text }));
        let name = at("event_name")?;
        let (time, unit) = match time_column(names) {
            Some(time) => (time, Unit::Picoseconds),
            None => (at("count_star")?, Unit::Count),
        };
        Some(Columns { name, time, unit, keys: ["user", "host"].iter().filter_map(|name| key(name)).collect() })
    }

    /// Name and time, without a header.
    pub(super) fn plain() -> Columns {
        Columns { name: 0, time: 1, unit: Unit::Picoseconds, keys: Vec::new() }
    }
}

/// Conditions on which background threads wait for their next turn: time in them is not spent for anybody.
/// MariaDB's timer, manager, aria checkpoint, binlog, replication and thread pool threads; MySQL's X plugin workers.
const BACKGROUND: &[&str] = &[
    "wait/synch/cond/aria/SERVICE_THREAD_CONTROL::COND_control",
    "wait/synch/cond/mysys/COND_timer",
    "wait/synch/cond/mysqlx/scheduler_dynamic_worker_pending",
    "wait/synch/cond/sql/COND_manager",
    "wait/synch/cond/sql/COND_queue_state",
    "wait/synch/cond/sql/COND_slave_background",
    "wait/synch/cond/sql/COND_binlog_background_thread",
    "wait/synch/cond/sql/MYSQL_BIN_LOG::COND_binlog_background_thread",
    "wait/synch/cond/threadpool/timer_cond",
    "wait/synch/cond/threadpool/worker_cond",
];

/// Sums that the notes need.
#[derive(Default)]
pub(super) struct Shares {
    total: i128,
    idle: i128,
    background: i128,
    /// Names of [`BACKGROUND`] that occurred.
    seen: Vec<&'static str>,
    /// Levels that occurred: waits lie inside stages, and stages in statements.
    levels: Vec<Vec<u8>>,
}

impl Shares {
    pub(super) fn row(&mut self, columns: &Columns, row: &Row, trace: &mut Trace) {
        let Some(name) = text(row, Some(columns.name)) else {
            return trace.loss("row without an event name, skipped", row.line);
        };
        let Some(time) = time(row, columns.time, trace) else { return };
        let frames: Vec<NameId> = frames(name).map(|frame| trace.names.text(frame)).collect();
        let keys: Vec<NameId> = columns
            .keys
            .iter()
            .map(|(at, _)| trace.names.text(text(row, Some(*at)).unwrap_or(b"background")))
            .collect();
        let kinds: Vec<Key> = columns.keys.iter().map(|(_, key)| key.clone()).collect();
        let series = trace.series(None, Function::Sum, columns.unit.clone(), &kinds, true);
        trace.row(series, &keys, &frames, Value::Number(time));
        if columns.unit == Unit::Picoseconds {
            self.share(name, time);
        }
    }

    fn share(&mut self, name: &[u8], time: i128) {
        self.total = self.total.saturating_add(time);
        let level = name.split(|&b| b == b'/').next().unwrap_or(&[]);
        if !self.levels.iter().any(|seen| seen == level) && self.levels.len() < 8 {
            self.levels.push(level.to_vec());
        }
        if name == b"idle" {
            self.idle = self.idle.saturating_add(time);
        }
        if let Some(known) = BACKGROUND.iter().find(|known| known.as_bytes() == name) {
            self.background = self.background.saturating_add(time);
            if !self.seen.contains(known) {
                self.seen.push(known);
            }
        }
    }

    /// Says what share of the total nobody has waited for, and how to leave it out.
    pub(super) fn finish(self, trace: &mut Trace) {
        let share = |part: i128| if self.total > 0 { part as f64 * 100.0 / self.total as f64 } else { 0.0 };
        if self.idle > 0 {
            trace.notes.info(format!(
                "idle {} s, {:.1}% of the time: sessions without a statement; leave it out with --without '^idle$'",
                seconds(self.idle),
                share(self.idle)
            ));
        }
        if self.background > 0 {
            let names: Vec<&str> = self.seen.iter().filter_map(|name| name.rsplit('/').next()).collect();
            trace.notes.info(format!(
                "background conditions {} s, {:.1}% of the time: threads without work; leave them out with --without '{}'",
                seconds(self.background),
                share(self.background),
                names.join("|")
            ));
        }
        let nested = ["wait", "stage", "statement", "transaction"]
            .iter()
            .filter(|level| self.levels.iter().any(|seen| seen == level.as_bytes()))
            .count();
        if nested > 1 {
            trace.notes.add(
                Severity::Info,
                "waits lie inside stages, and stages inside statements: this total counts them more than once; keep one level, e.g. with --only '^wait$', or export `seatrace sql hierarchy`".into(),
                1,
                0,
                None,
            );
        }
    }
}

/// Seconds with three digits behind the point, without those that are 0 at the end.
fn seconds(picoseconds: i128) -> String {
    let milliseconds = picoseconds / 1_000_000_000;
    let text = format!("{}.{:03}", milliseconds / 1000, (milliseconds % 1000).abs());
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// `wait/io/file/innodb/innodb_log_file` as five frames, others as three; further slashes belong to the name.
fn frames(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    let parts = if name.starts_with(b"wait/") { 5 } else { 3 };
    name.splitn(parts, |&b| b == b'/')
}

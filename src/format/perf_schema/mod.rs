//! performance_schema: waits, stages, statements and digests, exported with a client.
//!
//! | columns of the result | read as |
//! | --- | --- |
//! | `event_name`, a time | stacks `wait;io;file;innodb;innodb_log_file`, picoseconds |
//! | `event_id`, `nesting_event_id`, `event_name`, `timer_wait` | stacks of events inside each other, own time only |
//! | `path` (`statement/…;stage/…`), a time | the same, from paths that a recursive query has put together |
//! | `stack` (`wait;io;file`), a number | stacks as they are |
//! | `event_name`, `sql_text`, `timer_wait` | query records |
//! | `digest_text`, `count_star`, … | digests |
//!
//! The time is `sum_timer_wait`, `timer_wait`, `sum(timer_wait)` or `value`, in picoseconds. They stay exact; only query records, which
//! are in nanoseconds, round. Names are compared without case; order and further columns do not matter. Without names (`-N`) a
//! text and a number are taken for an event or a path and its time.
//! Sources: the MySQL and MariaDB manuals; samples of MariaDB 11.8.

mod digests;
mod events;
mod paths;
mod statements;
mod waits;

use super::client_table::{self, Cell, Item, Row, Tables};
use super::{Fit, Format, Options};
use crate::error::Result;
use crate::input::Lines;
use crate::model::Trace;

/// Entry in the table of formats.
pub(super) const FORMAT: Format = Format {
    name: "perf-schema",
    about: "performance_schema tables as a client prints them (see `seatrace sql`)",
    fits,
    read,
};

fn fits(head: &[u8]) -> Fit {
    match client_table::first_columns(head, is_header) {
        Some(columns) if !matches!(Kind::of(&columns), Kind::Unknown) => Fit::Sure,
        Some(columns) => Fit::No(format!("no known columns of performance_schema: {}", short(&columns.join(", ")))),
        None if headless(head) => Fit::Sure,
        None => Fit::No("no names of columns, and no event names".into()),
    }
}

/// Whether the first lines are event names with a time, as `-N` prints them.
fn headless(head: &[u8]) -> bool {
    let mut lines = head.split(|&b| b == b'\n').filter(|line| !line.is_empty()).take(5).peekable();
    // The last line may be cut where the head ends.
    lines.peek().is_some()
        && lines.all(|line| {
            let cells: Vec<Cell> = line.split(|&b| b == b'\t').map(client_table::cell).collect();
            cells.len() == 2 && !matches!(Kind::of_row(&cells), Kind::Unknown)
        })
}

fn short(text: &str) -> String {
    text.chars().take(80).collect()
}

fn is_header(names: &[String]) -> bool {
    !matches!(Kind::of(names), Kind::Unknown)
}

/// What a result holds, with the numbers of the columns that are read.
enum Kind {
    Waits(waits::Columns),
    Events(events::Columns),
    Paths { path: usize, time: usize },
    Statements(statements::Columns),
    Digests(digests::Columns),
    Unknown,
}

impl Kind {
    fn of(names: &[String]) -> Kind {
        let at = |name: &str| names.iter().position(|found| found == name);
        if let Some(columns) = digests::Columns::find(names) {
            return Kind::Digests(columns);
        }
        if let Some(columns) = events::Columns::find(names) {
            return Kind::Events(columns);
        }
        if let Some(columns) = statements::Columns::find(names) {
            return Kind::Statements(columns);
        }
        if let (Some(path), Some(time)) = (at("path").or_else(|| at("stack")), time_column(names)) {
            return Kind::Paths { path, time };
        }
        waits::Columns::find(names).map_or(Kind::Unknown, Kind::Waits)
    }

    /// The kind of a row without names above it.
    fn of_row(cells: &[Cell]) -> Kind {
        let [Some(name), time] = cells else { return Kind::Unknown };
        if time.as_deref().is_some_and(|time| number(time).is_none()) {
            return Kind::Unknown;
        }
        let levels: [&[u8]; 4] = [b"statement", b"stage", b"wait", b"transaction"];
        let first = name.split(|b| matches!(b, b'/' | b';')).next().unwrap_or(&[]);
        if !levels.contains(&first) && name != b"idle" {
            return Kind::Unknown;
        }
        // A statement alone is the root of paths: only a hierarchy has statements and no further columns.
        let is_path = name.contains(&b';') || matches!(first, b"statement" | b"transaction");
        if is_path { Kind::Paths { path: 0, time: 1 } } else { Kind::Waits(waits::Columns::plain()) }
    }
}

/// The column of the time: the sum if there is one.
fn time_column(names: &[String]) -> Option<usize> {
    let wanted = ["sum_timer_wait", "timer_wait", "sum(timer_wait)", "sum(sum_timer_wait)", "value"];
    wanted.iter().find_map(|name| names.iter().position(|found| found == name))
}

fn read(lines: &mut Lines, trace: &mut Trace, _options: &Options) -> Result<()> {
    let mut tables = Tables::new(lines, is_header);
    let mut reader = Reader {
        kind: None,
        waits: waits::Shares::default(),
        events: events::Tree::default(),
        paths: paths::Paths::default(),
        digests: digests::Digests::default(),
    };
    while let Some(item) = tables.next() {
        match item {
            Item::Columns(names) => reader.kind = Some(Kind::of(&names)),
            Item::Row(row) => reader.row(row, trace)?,
        }
    }
    reader.finish(trace);
    Ok(())
}

/// What is gathered until the input ends.
struct Reader {
    kind: Option<Kind>,
    waits: waits::Shares,
    events: events::Tree,
    paths: paths::Paths,
    digests: digests::Digests,
}

impl Reader {
    fn row(&mut self, row: Row, trace: &mut Trace) -> Result<()> {
        let headless;
        let kind = match &self.kind {
            Some(kind) => kind,
            None => {
                headless = Kind::of_row(&row.cells);
                &headless
            }
        };
        let row = Row {
            line: row.line,
            cells: row.cells.into_iter().map(|cell| cell.map(|text| client_table::unescape(&text))).collect(),
        };
        match kind {
            Kind::Waits(columns) => self.waits.row(columns, &row, trace),
            Kind::Events(columns) => self.events.row(columns, &row, trace),
            Kind::Paths { path, time } => self.paths.row(*path, *time, &row, trace),
            Kind::Statements(columns) => columns.row(&row, trace)?,
            Kind::Digests(columns) => self.digests.row(columns, &row, trace),
            Kind::Unknown => trace.loss("row of a result without known columns, skipped", row.line),
        }
        Ok(())
    }

    fn finish(self, trace: &mut Trace) {
        self.events.finish(trace);
        self.paths.finish(trace);
        self.waits.finish(trace);
    }
}

/// The text of a cell; `None` for NULL and for columns that are not there.
fn text(row: &Row, column: Option<usize>) -> Option<&[u8]> {
    row.cells.get(column?)?.as_deref()
}

/// A whole number as SQL prints it; a sum may be a decimal with zeros behind the point.
fn number(text: &[u8]) -> Option<i128> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if fraction.bytes().all(|b| b == b'0') { whole.parse().ok() } else { None }
}

fn count(row: &Row, column: Option<usize>) -> Option<u64> {
    u64::try_from(number(text(row, column)?)?).ok()
}

/// The time of a row. NULL and damage are noted.
fn time(row: &Row, column: usize, trace: &mut Trace) -> Option<i128> {
    match row.cells.get(column) {
        Some(Some(cell)) => {
            let time = number(cell).filter(|&time| time >= 0);
            if time.is_none() {
                trace.loss("row without a number for its time, skipped", row.line);
            }
            time
        }
        Some(None) => {
            trace.loss("event without a time (NULL: not timed, or not ended yet), skipped", row.line);
            None
        }
        None => {
            trace.loss("row with too few columns, skipped", row.line);
            None
        }
    }
}

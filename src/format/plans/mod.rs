//! Plans with what they took: EXPLAIN ANALYZE of MySQL, ANALYZE of MariaDB.
//!
//! | text | server | weights |
//! | --- | --- | --- |
//! | a tree of `-> step (actual time=a..b rows=r loops=l)` | MySQL 8.0.18 and later | microseconds: `b` times `l` |
//! | JSON with `r_total_time_ms` and its kin | MariaDB 10.1 and later | microseconds, over all loops already |
//! | JSON with `actual_last_row_ms` | MySQL 8.3 and later | microseconds: last row times loops |
//! | a table with `r_rows` | MariaDB's tabular ANALYZE | rows: it has no times |
//!
//! As raw text or in any form of client output; several plans may follow each other. A step is a frame under the step that it feeds;
//! its weight is its own time: what it took without its parts, never below 0. Rows, loops and estimates are the frame's detail.
//! Plans with estimates only are refused. Sources: the manuals; Item_explain and sql_explain.cc of MariaDB; samples of MariaDB 11.8.

mod json;
mod steps;
mod tabular;
mod tree;

use super::client_table::{self, Item, Tables};
use super::{Fit, Format, Options};
use crate::error::{Error, Result};
use crate::input::Lines;
use crate::model::{Picture, Trace};

/// Entry in the table of formats.
pub(super) const FORMAT: Format =
    Format { name: "plan", about: "EXPLAIN ANALYZE (MySQL), ANALYZE FORMAT=JSON and ANALYZE (MariaDB)", fits, read };

fn fits(head: &[u8]) -> Fit {
    let columns = client_table::first_columns(head, is_header);
    if columns.as_deref().is_some_and(is_header) {
        return Fit::Sure;
    }
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start();
    let is_tree = text.starts_with("-> ") && tree::MARKS.iter().any(|mark| text.contains(mark));
    let is_json = text.starts_with('{') && json::MARKS.iter().any(|mark| text.contains(mark));
    if is_tree || is_json {
        Fit::Sure
    } else {
        Fit::No("neither a tree of `-> ` steps, nor a plan in JSON, nor a table with select_type".into())
    }
}

fn is_header(names: &[String]) -> bool {
    matches!(names, [name] if name == "explain" || name == "analyze") || tabular::Columns::find(names).is_some()
}

fn read(lines: &mut Lines, trace: &mut Trace, _options: &Options) -> Result<()> {
    trace.heading.picture = Some(Picture::Icicle);
    let mut plans = Plans { shown: 0, refused: None };
    let mut tables = Tables::new(lines, is_header);
    let mut text = Text::default();
    let mut table: Option<tabular::Table> = None;
    while let Some(item) = tables.next() {
        match item {
            Item::Columns(names) => {
                plans.text(&mut text, trace);
                plans.table(table.take(), trace);
                table = tabular::Columns::find(&names).map(tabular::Table::new);
            }
            Item::Row(row) => match &mut table {
                Some(table) => table.row(&row),
                None => {
                    // A plan is one cell, or one line each where the client printed it raw.
                    let cell = row.cells.into_iter().map(Option::unwrap_or_default).collect::<Vec<_>>().join(&b'\t');
                    let cell = if is_escaped(&cell) { client_table::unescape(&cell) } else { cell };
                    if text.ends_before(&cell) {
                        plans.text(&mut text, trace);
                    }
                    text.push(row.line, &cell);
                }
            },
        }
    }
    plans.text(&mut text, trace);
    plans.table(table, trace);
    plans.finish()
}

/// Whether line feeds in a cell are the client's escapes. The text itself begins the same in both cases.
fn is_escaped(cell: &[u8]) -> bool {
    let has = |what: &[u8]| cell.windows(what.len()).any(|window| window == what);
    cell.starts_with(b"{\\n") || (cell.starts_with(b"-> ") && (has(b")\\n") || has(b"\\n    ")))
}

/// The text of one or more plans, and where it begins.
#[derive(Default)]
struct Text {
    line: u64,
    bytes: Vec<u8>,
}

impl Text {
    fn push(&mut self, line: u64, more: &[u8]) {
        if self.bytes.is_empty() {
            self.line = line;
        } else {
            self.bytes.push(b'\n');
        }
        self.bytes.extend_from_slice(more);
    }

    /// Whether a new plan of another kind begins with this cell.
    fn ends_before(&self, cell: &[u8]) -> bool {
        !self.bytes.is_empty() && (cell.starts_with(b"{") || cell.starts_with(b"-> "))
    }
}

/// Counts plans; keeps the first reason why one could not be shown.
struct Plans {
    shown: usize,
    refused: Option<Error>,
}

impl Plans {
    fn text(&mut self, text: &mut Text, trace: &mut Trace) {
        let Text { line, bytes } = std::mem::take(text);
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let plan = String::from_utf8_lossy(&bytes);
        let found = if plan.trim_start().starts_with('{') {
            json::read(&plan, line, trace)
        } else {
            tree::read(&plan, line, trace)
        };
        self.count(found, trace);
    }

    fn table(&mut self, table: Option<tabular::Table>, trace: &mut Trace) {
        if let Some(table) = table {
            let found = table.finish(trace);
            self.count(found, trace);
        }
    }

    fn count(&mut self, found: Result<()>, trace: &mut Trace) {
        match found {
            Ok(()) => self.shown += 1,
            Err(error) => {
                if let Error::Input { line, cause, .. } = &error {
                    trace.loss(format!("plan left out: {cause}"), *line);
                }
                self.refused.get_or_insert(error);
            }
        }
    }

    /// An error if there was nothing but refused plans.
    fn finish(self) -> Result<()> {
        match self.refused {
            Some(error) if self.shown == 0 => Err(error),
            _ => Ok(()),
        }
    }
}

/// Why a plan is refused, and what to do.
fn refusal(trace: &Trace, line: u64, cause: &str, remedy: &str) -> Error {
    Error::Input { file: trace.input().to_owned(), line, cause: cause.into(), remedy: remedy.into() }
}

/// What to say of a plan without measured times.
const ESTIMATES: &str = "this plan holds estimates only, nothing was measured";
const RUN_ANALYZE: &str =
    "run EXPLAIN ANALYZE (MySQL) or ANALYZE FORMAT=JSON (MariaDB) in place of EXPLAIN; both execute the statement";

//! MariaDB's tabular ANALYZE: one row a table, with `r_rows` and `r_filtered` but no times. It is weighed by the rows read.
//!
//! `r_rows` is per loop. Tables of one `id` are joined in the order of the rows: each is read once for every row that the tables before
//! it let through, so the rows read are `r_rows` times the product of their `r_rows * r_filtered / 100`.

use super::super::client_table::Row;
use super::steps::{self, Step};
use super::{ESTIMATES, RUN_ANALYZE, refusal};
use crate::error::Result;
use crate::model::{Function, Trace, Value};
use crate::units::Unit;

/// Where the columns are.
pub(super) struct Columns {
    id: usize,
    select: usize,
    table: usize,
    access: Option<usize>,
    key: Option<usize>,
    estimate: Option<usize>,
    rows: Option<usize>,
    filtered: Option<usize>,
    extra: Option<usize>,
}

impl Columns {
    pub(super) fn find(names: &[String]) -> Option<Columns> {
        let at = |name: &str| names.iter().position(|found| found == name);
        Some(Columns {
            id: at("id")?,
            select: at("select_type")?,
            table: at("table")?,
            access: at("type"),
            key: at("key"),
            estimate: at("rows"),
            rows: at("r_rows"),
            filtered: at("r_filtered"),
            extra: at("extra"),
        })
    }
}

/// The rows of one plan.
pub(super) struct Table {
    columns: Columns,
    line: u64,
    rows: Vec<Read>,
}

struct Read {
    select: String,
    table: Step,
    rows: f64,
    filtered: f64,
}

impl Table {
    pub(super) fn new(columns: Columns) -> Table {
        Table { columns, line: 0, rows: Vec::new() }
    }

    pub(super) fn row(&mut self, row: &Row) {
        let columns = &self.columns;
        let text = |column: Option<usize>| {
            row.cells.get(column?)?.as_ref().map(|cell| String::from_utf8_lossy(cell).into_owned())
        };
        let number =
            |column| text(column).and_then(|cell| cell.trim().parse::<f64>().ok()).filter(|number| *number >= 0.0);
        let select = text(Some(columns.select)).unwrap_or_default();
        let select = match text(Some(columns.id)) {
            Some(id) => format!("select #{id} ({select})"),
            None => select,
        };
        let how: Vec<String> = [columns.access, columns.key].into_iter().filter_map(text).collect();
        let name = text(Some(columns.table)).unwrap_or_else(|| "no table".into());
        let name = if how.is_empty() { name } else { format!("{name} ({})", how.join(" ")) };
        let words = [
            (columns.rows, "rows per loop"),
            (columns.estimate, "rows estimated"),
            (columns.filtered, "% of them pass"),
        ];
        let mut detail: Vec<String> =
            words.into_iter().filter_map(|(column, words)| Some(format!("{} {words}", text(column)?))).collect();
        detail.extend(text(columns.extra).filter(|extra| !extra.is_empty()));
        if self.rows.is_empty() {
            self.line = row.line;
        }
        let table = Step { name, detail: detail.join("; "), ..Step::default() };
        self.rows.push(Read {
            select,
            table,
            rows: number(columns.rows).unwrap_or(0.0),
            filtered: number(columns.filtered).unwrap_or(100.0),
        });
    }

    pub(super) fn finish(self, trace: &mut Trace) -> Result<()> {
        if self.columns.rows.is_none() {
            return Err(refusal(trace, self.line, ESTIMATES, RUN_ANALYZE));
        }
        trace.notes.info("tabular ANALYZE has no times: steps are weighed by the rows that they read (use ANALYZE FORMAT=JSON for times)");
        let series = trace.series(None, Function::Sum, Unit::Rows, &[], true);
        let mut loops = 1.0f64;
        let mut select: Option<(String, crate::model::NameId)> = None;
        for read in &self.rows {
            let id = match &select {
                Some((name, id)) if *name == read.select => *id,
                _ => {
                    loops = 1.0;
                    steps::name(&Step { name: read.select.clone(), ..Step::default() }, trace)
                }
            };
            select = Some((read.select.clone(), id));
            let rows = (read.rows * loops).round();
            let weight = if rows < 1e15 { rows as i128 } else { 0 };
            let table = steps::name(&read.table, trace);
            trace.row(series, &[], &[id, table], Value::Number(weight));
            loops *= read.rows * read.filtered / 100.0;
        }
        Ok(())
    }
}

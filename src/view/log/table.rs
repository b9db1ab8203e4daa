//! Tables of the log: records of other kinds than queries, and rows of aggregations by key.

use std::io::Write;

use hashbrown::HashMap;

use crate::error::Result;
use crate::model::{Distribution, EventTable, FieldType, FieldValue, NameId, Series, Trace};
use crate::units::Unit;
use crate::view::text::{self, Clock};

/// A table: numbers on the right of their column, texts on the left, the last column as long as it is.
pub(super) struct Table {
    /// Lines above it.
    above: Vec<String>,
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

struct Column {
    head: String,
    is_number: bool,
}

/// Widest column that is not the last.
const WIDEST: usize = 48;

/// The tables of a trace: records first.
pub(super) fn all(trace: &Trace, clock: &mut Clock) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    for table in trace.events.iter().filter(|table| !table.rows.is_empty()) {
        tables.push(of_events(table, clock));
    }
    let mut grouped: Vec<Vec<&Series>> = Vec::new();
    for series in trace.series.iter().filter(|series| !series.has_stack && !series.is_empty()) {
        match grouped.iter_mut().find(|group| group.first().is_some_and(|first| first.keys == series.keys)) {
            Some(group) => group.push(series),
            None => grouped.push(vec![series]),
        }
    }
    tables.extend(grouped.iter().map(|group| of_series(trace, group)));
    tables
}

fn of_events(table: &EventTable, clock: &mut Clock) -> Table {
    let fields = &table.schema.fields;
    let columns = fields.iter().map(|field| Column {
        head: head(&field.name, field.kind),
        is_number: field.is_number() && field.kind != FieldType::Wall,
    });
    let columns: Vec<Column> = columns.collect();
    let mut rows = Vec::with_capacity(table.rows.len());
    for row in &table.rows {
        rows.push(fields.iter().zip(row).map(|(field, value)| cell(field.kind, value, clock)).collect());
    }
    Table { above: vec![format!("# {} ({})", text::line(&table.schema.kind), clock.zone())], columns, rows }
}

fn head(name: &str, kind: FieldType) -> String {
    let name = text::line(name).to_uppercase();
    match kind {
        FieldType::Duration => format!("{name} ms"),
        _ => name,
    }
}

fn cell(kind: FieldType, value: &FieldValue, clock: &mut Clock) -> String {
    match (kind, value) {
        (_, FieldValue::Unknown) => "-".into(),
        (_, FieldValue::Text(text)) => text::line(text).into_owned(),
        (FieldType::Duration, FieldValue::Int(value)) => text::milliseconds(*value),
        (FieldType::Wall, FieldValue::Int(value)) => {
            let (date, time, nanosecond) = clock.read(i64::try_from(*value).unwrap_or(i64::MAX));
            let mut out = format!("{date} {time}");
            text::push_milli(&mut out, nanosecond);
            out
        }
        (_, FieldValue::Int(value)) => value.to_string(),
    }
}

/// One row a key, from all aggregations with these keys; most time first.
fn of_series(trace: &Trace, group: &[&Series]) -> Table {
    let mut columns: Vec<Column> = Vec::new();
    for series in group {
        value_heads(series, &mut columns);
    }
    let keys = group.first().map_or(&[][..], |series| &series.keys);
    for key in keys {
        let head = key.name.as_deref().map_or("KEY".into(), |name| text::line(name).to_uppercase());
        columns.push(Column { head, is_number: key.kind == crate::model::KeyKind::Int });
    }
    let mut index: HashMap<&[NameId], usize> = HashMap::new();
    let mut rows: Vec<(&[NameId], Vec<Option<Cells<'_>>>)> = Vec::new();
    for (at, series) in group.iter().enumerate() {
        for row in series.rows() {
            let number = *index.entry(row.keys).or_insert_with(|| {
                rows.push((row.keys, (0..group.len()).map(|_| None).collect()));
                rows.len() - 1
            });
            if let Some(place) = rows.get_mut(number).and_then(|row| row.1.get_mut(at)) {
                *place = Some(Cells { value: row.value, distribution: row.distribution });
            }
        }
    }
    let leading = leading(group);
    let weight = |cells: &[Option<Cells<'_>>]| {
        cells.get(leading).and_then(|cell| cell.as_ref()).map_or(i128::MIN, |cell| cell.value)
    };
    let texts = |keys: &[NameId]| -> Vec<&str> { keys.iter().map(|&id| trace.names.get(id)).collect() };
    rows.sort_by(|a, b| weight(&b.1).cmp(&weight(&a.1)).then_with(|| texts(a.0).cmp(&texts(b.0))));
    let rows = rows.iter().map(|(keys, cells)| {
        let values = group.iter().zip(cells).flat_map(|(series, cells)| value_cells(series, cells.as_ref()));
        values.chain(texts(keys).into_iter().map(|text| text::line(text).into_owned())).collect()
    });
    Table { above: Vec::new(), columns, rows: rows.collect() }
}

struct Cells<'a> {
    value: i128,
    distribution: Option<&'a Distribution>,
}

/// The aggregation by which rows are sorted: a sum of times, else a sum, else the first.
fn leading(group: &[&Series]) -> usize {
    let is_time = |series: &Series| series.unit.picoseconds().is_some() && !series.is_distribution();
    let by = |wanted: &dyn Fn(&Series) -> bool| group.iter().position(|series| wanted(series));
    by(&|series| is_time(series) && series.is_additive())
        .or_else(|| by(&is_time))
        .or_else(|| by(&|series| series.is_additive()))
        .unwrap_or(0)
}

fn value_heads(series: &Series, columns: &mut Vec<Column>) {
    let name = series.name.as_deref().unwrap_or(series.function.word());
    let name = text::line(name).to_uppercase();
    let mut add = |head: String| columns.push(Column { head, is_number: true });
    let unit = shown_unit(&series.unit);
    if series.is_distribution() {
        add(format!("{name} count"));
        add(format!("p50 < {unit}").trim_end().to_owned());
        add(format!("p95 < {unit}").trim_end().to_owned());
    } else {
        add(format!("{name} {unit}").trim_end().to_owned());
    }
}

fn value_cells(series: &Series, cells: Option<&Cells<'_>>) -> Vec<String> {
    let Some(cells) = cells else { return vec!["-".into(); if series.is_distribution() { 3 } else { 1 }] };
    match cells.distribution {
        None => vec![shown(cells.value, &series.unit)],
        Some(distribution) => {
            let bound = |q| distribution.quantile(q).map_or("-".into(), |bucket| bound(bucket.high, &series.unit));
            vec![cells.value.to_string(), bound(0.5), bound(0.95)]
        }
    }
}

fn bound(high: i128, unit: &Unit) -> String {
    if high == i128::MAX { "any".into() } else { shown(high, unit) }
}

/// Times are shown in milliseconds, as in the log.
fn shown_unit(unit: &Unit) -> String {
    match unit.picoseconds() {
        Some(_) => "ms".into(),
        None if *unit == Unit::Count => String::new(),
        None => text::line(&unit.to_string()).into_owned(),
    }
}

fn shown(value: i128, unit: &Unit) -> String {
    match unit.picoseconds().and_then(|scale| value.checked_mul(scale)) {
        Some(picoseconds) => text::milliseconds(picoseconds / 1_000),
        None => value.to_string(),
    }
}

impl Table {
    /// Writes it; lines end at `limit` columns.
    pub(super) fn write(&self, out: &mut dyn Write, limit: usize) -> Result<()> {
        for line in &self.above {
            writeln!(out, "{line}")?;
        }
        let widths = self.widths(limit);
        let heads: Vec<String> = self.columns.iter().map(|column| column.head.clone()).collect();
        let mut line = String::new();
        for row in std::iter::once(&heads).chain(&self.rows) {
            line.clear();
            for (at, ((cell, column), &width)) in row.iter().zip(&self.columns).zip(&widths).enumerate() {
                if at > 0 {
                    line.push(' ');
                }
                let from = line.len();
                if column.is_number {
                    text::push_right(&mut line, cell, width);
                } else {
                    line.push_str(cell);
                    if at + 1 < self.columns.len() {
                        text::fit_exactly(&mut line, from, width, limit);
                    }
                }
            }
            text::cut(&mut line, 0, limit);
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }

    fn widths(&self, limit: usize) -> Vec<usize> {
        let widest = if limit == usize::MAX { WIDEST } else { WIDEST.min(limit / 4) };
        let head_and_cells = |at: usize| {
            let cells = self.rows.iter().filter_map(move |row| row.get(at)).map(|cell| text::width(cell));
            let longest = cells.max().unwrap_or(0);
            self.columns.get(at).map_or(0, |column| {
                let longest = if column.is_number { longest } else { longest.min(widest) };
                longest.max(text::width(&column.head))
            })
        };
        (0..self.columns.len()).map(head_and_cells).collect()
    }
}

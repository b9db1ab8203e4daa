//! CSV: one table a kind of data, an empty line between two. Times in nanoseconds, units in the header.
//!
//! A text that a spreadsheet would take for a formula gets an apostrophe in front.

use std::borrow::Cow;
use std::io::Write;

use super::stacks::safe_frame;
use super::{Options, View, in_order};
use crate::error::Result;
use crate::model::{EventTable, FieldType, FieldValue, Query, Series, Trace};

/// Entry in the table of views.
pub(super) const VIEW: View =
    View { name: "csv", extensions: &["csv"], about: "CSV: queries, records, rows", write, stream: None };

fn write(trace: &Trace, options: &Options, out: &mut dyn Write) -> Result<()> {
    let mut tables = Tables { out, begun: false };
    if !trace.queries.is_empty() {
        let queries = in_order(trace, options).into_iter();
        tables.table(QUERY.iter().map(|name| Cow::Borrowed(*name)), queries.map(query_row))?;
    }
    for table in trace.events.iter().filter(|table| !table.rows.is_empty()) {
        tables.table(event_head(table), table.rows.iter().map(|row| row.iter().map(field_cell).collect()))?;
    }
    for series in trace.series.iter().filter(|series| !series.is_empty()) {
        tables.table(series_head(series), series_rows(trace, series))?;
    }
    Ok(())
}

/// The kind is needed: a broken pipe is no failure.
pub(super) fn failed(error: csv::Error) -> std::io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        _ => std::io::Error::other("a CSV record could not be written"),
    }
}

struct Tables<'a> {
    out: &'a mut dyn Write,
    begun: bool,
}

impl Tables<'_> {
    fn table<'c>(
        &mut self,
        head: impl Iterator<Item = Cow<'c, str>>,
        rows: impl Iterator<Item = Vec<Cow<'c, str>>>,
    ) -> Result<()> {
        if std::mem::replace(&mut self.begun, true) {
            writeln!(self.out)?;
        }
        let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(&mut *self.out);
        writer.write_record(head.map(|cell| cell.into_owned())).map_err(failed)?;
        for row in rows {
            writer.write_record(row.iter().map(|cell| cell.as_ref())).map_err(failed)?;
        }
        writer.flush()?;
        Ok(())
    }
}

const QUERY: [&str; 14] = [
    "end_ns",
    "connection",
    "user",
    "host",
    "database",
    "status",
    "elapsed_ns",
    "lock_ns",
    "rows_sent",
    "rows_examined",
    "rows_affected",
    "kind",
    "cut",
    "query",
];

fn query_row<'a>(query: &'a Query<'_>) -> Vec<Cow<'a, str>> {
    fn number<T: ToString>(value: Option<T>) -> Cow<'static, str> {
        value.map_or(Cow::Borrowed(""), |value| Cow::Owned(value.to_string()))
    }
    vec![
        number(query.end),
        number(query.connection),
        text_cell(query.user.as_deref().unwrap_or("")),
        text_cell(query.host.as_deref().unwrap_or("")),
        text_cell(query.database.as_deref().unwrap_or("")),
        number(query.status),
        number(query.elapsed),
        number(query.lock_time),
        number(query.rows_sent),
        number(query.rows_examined),
        number(query.rows_affected),
        Cow::Borrowed(query.kind.word()),
        Cow::Borrowed(if query.cut { "1" } else { "0" }),
        text_cell(&query.text),
    ]
}

fn event_head(table: &EventTable) -> impl Iterator<Item = Cow<'_, str>> {
    table.schema.fields.iter().map(|field| match field.kind {
        FieldType::Wall | FieldType::Duration if !field.name.ends_with("_ns") => {
            Cow::Owned(format!("{}_ns", field.name))
        }
        _ => text_cell(&field.name),
    })
}

fn field_cell(value: &FieldValue) -> Cow<'_, str> {
    match value {
        FieldValue::Unknown => Cow::Borrowed(""),
        FieldValue::Int(value) => Cow::Owned(value.to_string()),
        FieldValue::Text(text) => text_cell(text),
    }
}

fn series_head(series: &Series) -> impl Iterator<Item = Cow<'_, str>> {
    let unit = match series.unit.to_string() {
        unit if unit.is_empty() => unit,
        unit => format!("_{unit}"),
    };
    let keys = series.keys.iter().enumerate().map(|(at, key)| match &key.name {
        Some(name) => text_cell(name),
        None => Cow::Owned(format!("key{}", at + 1)),
    });
    let name = series.name.as_deref().unwrap_or(series.function.word());
    let values = if series.is_distribution() {
        vec![format!("low{unit}"), format!("high{unit}"), "count".into()]
    } else {
        vec![format!("{name}{unit}")]
    };
    let stack = series.has_stack.then_some(Cow::Borrowed("stack"));
    let values = values.into_iter().map(|value| Cow::Owned(text_cell(&value).into_owned()));
    keys.chain(stack).chain(values)
}

/// One row a row; of a distribution, one a bucket.
fn series_rows<'a>(trace: &'a Trace, series: &'a Series) -> impl Iterator<Item = Vec<Cow<'a, str>>> {
    series.rows().flat_map(move |row| {
        let mut keys: Vec<Cow<'a, str>> = row.keys.iter().map(|&id| text_cell(trace.names.get(id))).collect();
        if series.has_stack {
            let frames: Vec<_> = row.stack.iter().map(|&id| safe_frame(trace.names.get(id))).collect();
            keys.push(Cow::Owned(text_cell(&frames.join(";")).into_owned()));
        }
        let values: Vec<Vec<Cow<'a, str>>> = match row.distribution {
            None => vec![vec![Cow::Owned(row.value.to_string())]],
            Some(distribution) => distribution
                .buckets()
                .iter()
                .map(|bucket| {
                    vec![
                        bound(bucket.low, i128::MIN),
                        bound(bucket.high, i128::MAX),
                        Cow::Owned(bucket.count.to_string()),
                    ]
                })
                .collect(),
        };
        values.into_iter().map(move |values| keys.iter().cloned().chain(values).collect())
    })
}

fn bound(value: i128, open: i128) -> Cow<'static, str> {
    if value == open { Cow::Borrowed("") } else { Cow::Owned(value.to_string()) }
}

/// The text as a cell: no formula, no control character but line breaks and tabs.
pub(super) fn text_cell(text: &str) -> Cow<'_, str> {
    let harmless = |c: char| c == '\n' || c == '\t' || !super::text::is_unsafe(c);
    let clean: Cow<'_, str> = if text.chars().all(harmless) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.chars().map(|c| if harmless(c) { c } else { char::REPLACEMENT_CHARACTER }).collect())
    };
    if clean.starts_with(['=', '+', '-', '@', '\t']) && clean.parse::<i128>().is_err() {
        return Cow::Owned(format!("'{clean}"));
    }
    clean
}

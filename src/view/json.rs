//! JSON Lines: everything that a trace holds, for programs. docs/json.md is the specification.
//!
//! Times are whole nanoseconds, numbers are exact however large, unknown fields are absent. The line about the trace is the last one, since
//! records are written while it still runs.

use std::io::{self, Write};

use serde::Serialize;
use serde::ser::{SerializeMap, SerializeSeq, Serializer};

use super::text;
use super::{Options, View, in_order};
use crate::error::{Error, Result};
use crate::model::{
    Bucket, Consumer, Distribution, Field, FieldType, FieldValue, Heading, KeyKind, NameId, Note, Query, Series,
    Severity, Trace,
};
use crate::units::Unit;

/// Entry in the table of views.
pub(super) const VIEW: View = View {
    name: "json",
    extensions: &["json", "jsonl"],
    about: "JSON Lines: all that is known, for programs",
    write,
    stream: Some(stream),
};

/// Version of docs/json.md.
const VERSION: u32 = 1;

fn write(trace: &Trace, options: &Options, out: &mut dyn Write) -> Result<()> {
    let mut json = Json::new(out);
    for query in in_order(trace, options) {
        json.query(query)?;
    }
    json.rest(trace)
}

fn stream(_options: &Options, out: Box<dyn Write>) -> Box<dyn Consumer> {
    Box::new(Json::new(out))
}

impl Consumer for Json<Box<dyn Write>> {
    fn query(&mut self, _heading: &Heading, query: &Query<'_>) -> Result<()> {
        Json::query(self, query)
    }

    fn idle(&mut self) -> Result<()> {
        self.out.flush().map_err(Error::from)
    }

    fn finish(mut self: Box<Self>, trace: &Trace) -> Result<()> {
        self.rest(trace)?;
        self.out.flush().map_err(Error::from)
    }
}

struct Json<W> {
    out: W,
    line: Vec<u8>,
    begun: bool,
}

impl<W: Write> Json<W> {
    fn new(out: W) -> Json<W> {
        Json { out, line: Vec::new(), begun: false }
    }

    fn line(&mut self, value: &impl Serialize) -> Result<()> {
        self.line.clear();
        if !std::mem::replace(&mut self.begun, true) {
            self.line.extend_from_slice(format!("{{\"type\":\"seatrace\",\"version\":{VERSION}}}\n").as_bytes());
        }
        let mut serializer = serde_json::Serializer::with_formatter(&mut self.line, Harmless);
        value.serialize(&mut serializer).map_err(io::Error::from)?;
        self.line.push(b'\n');
        self.out.write_all(&self.line)?;
        Ok(())
    }

    fn query(&mut self, query: &Query<'_>) -> Result<()> {
        self.line(&QueryLine {
            kind_of_line: "query",
            end_ns: query.end,
            connection: query.connection,
            user: query.user.as_deref(),
            host: query.host.as_deref(),
            database: query.database.as_deref(),
            database_inherited: query.database_inherited,
            status: query.status,
            elapsed_ns: query.elapsed,
            lock_ns: query.lock_time,
            rows_sent: query.rows_sent,
            rows_examined: query.rows_examined,
            rows_affected: query.rows_affected,
            kind: query.kind.word(),
            query: &query.text,
            cut: query.cut,
            attributes: Attributes(query),
        })
    }

    fn rest(&mut self, trace: &Trace) -> Result<()> {
        let (mut events, mut rows) = (0, 0);
        for table in &trace.events {
            for values in &table.rows {
                events += 1;
                let fields = Fields(&table.schema.fields, values);
                self.line(&EventLine { kind_of_line: "event", kind: &table.schema.kind, fields })?;
            }
        }
        for series in &trace.series {
            for row in series.rows() {
                rows += 1;
                let stack = series.has_stack.then_some(Frames(trace, row.stack));
                let (scale, unit) = scale(&series.unit);
                self.line(&RowLine {
                    kind_of_line: "row",
                    series: series.name.as_deref(),
                    function: series.function.word(),
                    unit: &unit,
                    keys: Keys(trace, series, row.keys),
                    stack,
                    value: row.distribution.is_none().then(|| row.value.saturating_mul(scale)),
                    count: row.distribution.map(Distribution::count),
                    buckets: row.distribution.map(|distribution| Buckets(distribution, scale)),
                })?;
            }
        }
        for note in trace.notes.iter() {
            self.line(&note_line(note))?;
        }
        let heading = &trace.heading;
        self.line(&TraceLine {
            kind_of_line: "trace",
            title: heading.title.as_deref(),
            script: heading.script.as_deref(),
            script_version: heading.version,
            start_ns: heading.start,
            stop_ns: heading.stop,
            zone_s: heading.zone,
            target_pid: heading.target,
            strsize_bytes: heading.strsize,
            inputs: &heading.inputs,
            queries: trace.query_count,
            events,
            rows,
        })
    }
}

/// Times of a dump in other units become nanoseconds, except picoseconds, which could not.
fn scale(unit: &Unit) -> (i128, String) {
    match unit {
        Unit::Microseconds => (1_000, "ns".into()),
        Unit::Milliseconds => (1_000_000, "ns".into()),
        Unit::Seconds => (1_000_000_000, "ns".into()),
        unit => (1, unit.to_string()),
    }
}

fn is_false(value: &bool) -> bool {
    !value
}

#[derive(Serialize)]
struct QueryLine<'a> {
    #[serde(rename = "type")]
    kind_of_line: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_ns: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    connection: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    database: Option<&'a str>,
    #[serde(skip_serializing_if = "is_false")]
    database_inherited: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    elapsed_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lock_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rows_sent: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rows_examined: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rows_affected: Option<u64>,
    kind: &'static str,
    query: &'a str,
    #[serde(skip_serializing_if = "is_false")]
    cut: bool,
    #[serde(skip_serializing_if = "Attributes::is_empty")]
    attributes: Attributes<'a>,
}

struct Attributes<'a>(&'a Query<'a>);

impl Attributes<'_> {
    fn is_empty(&self) -> bool {
        self.0.attributes.is_empty()
    }
}

impl Serialize for Attributes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.attributes.iter().map(|(name, value)| (name, value)))
    }
}

#[derive(Serialize)]
struct EventLine<'a> {
    #[serde(rename = "type")]
    kind_of_line: &'static str,
    kind: &'a str,
    fields: Fields<'a>,
}

/// Fields of a record; times carry their unit in their name.
struct Fields<'a>(&'a [Field], &'a [FieldValue]);

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (field, value) in self.0.iter().zip(self.1) {
            let suffix = match field.kind {
                FieldType::Wall | FieldType::Duration if !field.name.ends_with("_ns") => "_ns",
                _ => "",
            };
            let name = format!("{}{suffix}", field.name);
            match value {
                FieldValue::Unknown => {}
                FieldValue::Int(value) => map.serialize_entry(&name, value)?,
                FieldValue::Text(text) => map.serialize_entry(&name, text)?,
            }
        }
        map.end()
    }
}

#[derive(Serialize)]
struct RowLine<'a> {
    #[serde(rename = "type")]
    kind_of_line: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    series: Option<&'a str>,
    function: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    unit: &'a str,
    keys: Keys<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stack: Option<Frames<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<i128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<i128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    buckets: Option<Buckets<'a>>,
}

/// Keys by name; one without a name, or with that of another, is called by its place.
struct Keys<'a>(&'a Trace, &'a Series, &'a [NameId]);

impl Serialize for Keys<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let Keys(trace, series, ids) = self;
        let mut map = serializer.serialize_map(Some(ids.len()))?;
        for (at, (key, &id)) in series.keys.iter().zip(*ids).enumerate() {
            let is_first = !series.keys.iter().take(at).any(|other| other.name == key.name);
            let place = format!("key{}", at + 1);
            let name = key.name.as_deref().filter(|_| is_first).unwrap_or(&place);
            let text = trace.names.get(id);
            match text.parse::<i128>() {
                Ok(number) if key.kind == KeyKind::Int => map.serialize_entry(name, &number)?,
                _ => map.serialize_entry(name, text)?,
            }
        }
        map.end()
    }
}

struct Frames<'a>(&'a Trace, &'a [NameId]);

impl Serialize for Frames<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_seq(self.1.iter().map(|&id| self.0.names.get(id)))
    }
}

struct Buckets<'a>(&'a Distribution, i128);

impl Serialize for Buckets<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for bucket in self.0.buckets() {
            list.serialize_element(&bucket_line(bucket, self.1))?;
        }
        list.end()
    }
}

/// The values `low <= v < high`; an open bound is null.
#[derive(Serialize)]
pub(super) struct BucketLine {
    low: Option<i128>,
    high: Option<i128>,
    count: i128,
}

fn bucket_line(bucket: &Bucket, scale: i128) -> BucketLine {
    let bound = |value: i128, open: i128| (value != open).then(|| value.saturating_mul(scale));
    BucketLine { low: bound(bucket.low, i128::MIN), high: bound(bucket.high, i128::MAX), count: bucket.count }
}

#[derive(Serialize)]
struct NoteLine<'a> {
    #[serde(rename = "type")]
    kind_of_line: &'static str,
    severity: &'static str,
    text: &'a str,
    count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<i128>,
    places: &'a [String],
}

fn note_line(note: &Note) -> NoteLine<'_> {
    NoteLine {
        kind_of_line: "note",
        severity: if note.severity == Severity::Loss { "loss" } else { "info" },
        text: &note.text,
        count: note.count,
        weight: (note.weight != 0).then_some(note.weight),
        places: &note.places,
    }
}

#[derive(Serialize)]
struct TraceLine<'a> {
    #[serde(rename = "type")]
    kind_of_line: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    script: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    script_version: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_ns: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_ns: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    zone_s: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target_pid: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strsize_bytes: Option<u64>,
    inputs: &'a [String],
    queries: u64,
    events: u64,
    rows: u64,
}

/// Writes strings so that a terminal shows them harmlessly: what [`text::is_unsafe`] finds is written as `\u....`.
pub(super) struct Harmless;

/// Writes a value on a line, as all lines here are written.
pub(super) fn write_line(out: &mut dyn Write, value: &impl Serialize) -> Result<()> {
    let mut line = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut line, Harmless);
    value.serialize(&mut serializer).map_err(io::Error::from)?;
    line.push(b'\n');
    out.write_all(&line)?;
    Ok(())
}

impl serde_json::ser::Formatter for Harmless {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        if fragment.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
            return writer.write_all(fragment.as_bytes());
        }
        let mut units = [0u16; 2];
        let mut bytes = [0u8; 4];
        for c in fragment.chars() {
            if text::is_unsafe(c) {
                for unit in c.encode_utf16(&mut units) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            } else {
                writer.write_all(c.encode_utf8(&mut bytes).as_bytes())?;
            }
        }
        Ok(())
    }
}

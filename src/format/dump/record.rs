//! Records of a dump: one line each, tab-separated, as their `# record` heading declares them.

use std::borrow::Cow;

use crate::error::Result;
use crate::format::{escape, number};
use crate::model::{Field, FieldType, FieldValue, Query, QueryKind, Schema, Trace};

/// How many texts were cut.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cut {
    /// Texts of queries.
    pub(super) queries: u64,
    /// Other texts: keys, users, file names.
    pub(super) keys: u64,
}

/// A declared kind of record.
pub(super) struct Kind {
    schema: Schema,
    fields: Vec<Slot>,
    is_query: bool,
}

/// What a field is for, and by what its numbers are multiplied.
struct Slot {
    role: Role,
    scale: i128,
    is_text: bool,
}

/// The known fields of a query.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    End,
    Connection,
    User,
    Host,
    Database,
    Status,
    Elapsed,
    LockTime,
    RowsSent,
    RowsExamined,
    RowsAffected,
    Kind,
    Length,
    Text,
    Other,
}

impl Role {
    fn of(name: &str) -> Role {
        match name {
            "end" => Role::End,
            "connection" => Role::Connection,
            "user" => Role::User,
            "host" => Role::Host,
            "database" => Role::Database,
            "status" => Role::Status,
            "elapsed" => Role::Elapsed,
            "lock_time" => Role::LockTime,
            "rows_sent" => Role::RowsSent,
            "rows_examined" => Role::RowsExamined,
            "rows_affected" => Role::RowsAffected,
            "kind" => Role::Kind,
            "length" => Role::Length,
            "query" => Role::Text,
            _ => Role::Other,
        }
    }
}

/// Type and multiplier of a type's word: durations become nanoseconds.
pub(super) fn field_type(word: &str) -> (FieldType, i128) {
    match word {
        "int" => (FieldType::Int, 1),
        "wall" => (FieldType::Wall, 1),
        "ns" => (FieldType::Duration, 1),
        "us" => (FieldType::Duration, 1_000),
        "ms" => (FieldType::Duration, 1_000_000),
        "bytes" => (FieldType::Bytes, 1),
        "rows" => (FieldType::Rows, 1),
        _ => (FieldType::Text, 1),
    }
}

impl Kind {
    /// The kind that `# record` declares with these fields.
    pub(super) fn declared(fields: &[&str]) -> Option<Kind> {
        let (name, fields) = fields.split_first().filter(|(name, _)| !name.is_empty())?;
        let mut schema = Schema { kind: (*name).to_owned(), fields: Vec::new() };
        let mut slots = Vec::new();
        for field in fields {
            let (name, word) = field.trim_end().split_once(':').unwrap_or((field, "text"));
            let (kind, scale) = field_type(word);
            schema.fields.push(Field { name: name.to_owned(), kind });
            slots.push(Slot { role: Role::of(name), scale, is_text: kind == FieldType::Text });
        }
        Some(Kind { is_query: *name == "query", schema, fields: slots })
    }

    pub(super) fn name(&self) -> &str {
        &self.schema.kind
    }

    pub(super) fn is(&self, word: &[u8]) -> bool {
        self.schema.kind.as_bytes() == word
    }

    /// Reads the values of a record into the trace; false if they are not as declared.
    pub(super) fn read(
        &self,
        values: Option<&[u8]>,
        strsize: Option<u64>,
        cut: &mut Cut,
        trace: &mut Trace,
    ) -> Result<bool> {
        let values = Values { rest: values };
        if self.is_query {
            let Some(query) = self.query(values, strsize, cut) else { return Ok(false) };
            trace.query(query)?;
            return Ok(true);
        }
        let Some(row) = self.event(values, strsize, cut) else { return Ok(false) };
        trace.event(&self.schema, row);
        Ok(true)
    }

    fn query<'a>(&self, mut values: Values<'a>, strsize: Option<u64>, cut: &mut Cut) -> Option<Query<'a>> {
        let mut query = Query::default();
        let mut length = None;
        let mut text: &[u8] = &[];
        let mut cuts = 0;
        for (at, slot) in self.fields.iter().enumerate() {
            let value = values.next()?;
            if slot.role == Role::Text {
                text = value;
                continue;
            }
            if slot.is_text {
                let (value, is_cut) = decode(value, strsize);
                cuts += u64::from(is_cut);
                self.set_text(&mut query, at, value);
            } else if !value.is_empty() {
                let number = number::parse(value)?;
                let number = if slot.scale == 1 { number } else { number.checked_mul(slot.scale)? };
                self.set_number(&mut query, &mut length, at, number)?;
            }
        }
        if !values.is_empty() {
            return None;
        }
        let bytes = escape::undo(text);
        query.cut = is_full(&bytes, strsize) || length.is_some_and(|length| (bytes.len() as u64) < length);
        query.text = to_text(bytes, query.cut);
        cut.queries = cut.queries.saturating_add(u64::from(query.cut));
        cut.keys = cut.keys.saturating_add(cuts);
        Some(query)
    }

    fn set_text<'a>(&self, query: &mut Query<'a>, at: usize, value: Option<Cow<'a, str>>) {
        let Some(slot) = self.fields.get(at) else { return };
        match slot.role {
            Role::User => query.user = value,
            Role::Host => query.host = value,
            Role::Database => query.database = value,
            Role::Kind => match value.as_deref().and_then(QueryKind::from_word) {
                Some(kind) => query.kind = kind,
                None => self.set_attribute(query, at, value),
            },
            _ => self.set_attribute(query, at, value),
        }
    }

    fn set_number(&self, query: &mut Query<'_>, length: &mut Option<u64>, at: usize, number: i128) -> Option<()> {
        let unsigned = || u64::try_from(number).ok();
        match self.fields.get(at)?.role {
            Role::End => query.end = Some(i64::try_from(number).ok()?),
            Role::Status => query.status = Some(i64::try_from(number).ok()?),
            Role::Connection => query.connection = Some(unsigned()?),
            Role::Elapsed => query.elapsed = Some(unsigned()?),
            Role::LockTime => query.lock_time = Some(unsigned()?),
            Role::RowsSent => query.rows_sent = Some(unsigned()?),
            Role::RowsExamined => query.rows_examined = Some(unsigned()?),
            Role::RowsAffected => query.rows_affected = Some(unsigned()?),
            Role::Length => *length = Some(unsigned()?),
            _ => self.set_attribute(query, at, Some(Cow::Owned(number.to_string()))),
        }
        Some(())
    }

    fn set_attribute<'a>(&self, query: &mut Query<'a>, at: usize, value: Option<Cow<'a, str>>) {
        if let (Some(field), Some(value)) = (self.schema.fields.get(at), value) {
            query.attributes.push((Cow::Owned(field.name.clone()), value));
        }
    }

    fn event(&self, mut values: Values<'_>, strsize: Option<u64>, cut: &mut Cut) -> Option<Vec<FieldValue>> {
        let mut row = Vec::with_capacity(self.fields.len());
        for slot in &self.fields {
            let value = values.next()?;
            row.push(if value.is_empty() {
                FieldValue::Unknown
            } else if slot.is_text {
                let (text, is_cut) = decode(value, strsize);
                cut.keys = cut.keys.saturating_add(u64::from(is_cut));
                FieldValue::Text(text.unwrap_or_default().into_owned())
            } else {
                FieldValue::Int(number::parse(value)?.checked_mul(slot.scale)?)
            });
        }
        values.is_empty().then_some(row)
    }
}

/// The values of a line, split at tabs.
struct Values<'a> {
    rest: Option<&'a [u8]>,
}

impl<'a> Values<'a> {
    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest?;
        match memchr::memchr(b'\t', rest) {
            Some(at) => {
                self.rest = rest.get(at.saturating_add(1)..);
                rest.get(..at)
            }
            None => {
                self.rest = None;
                Some(rest)
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.rest.is_none()
    }
}

/// A text and whether it was cut; `None` for an empty value, which means unknown.
fn decode(value: &[u8], strsize: Option<u64>) -> (Option<Cow<'_, str>>, bool) {
    if value.is_empty() {
        return (None, false);
    }
    let bytes = escape::undo(value);
    let is_cut = is_full(&bytes, strsize);
    (Some(to_text(bytes, is_cut)), is_cut)
}

/// Whether a text fills DTrace's buffer: then it was cut, or just fitted, which looks the same.
pub(super) fn is_full(text: &[u8], strsize: Option<u64>) -> bool {
    strsize.is_some_and(|size| size > 1 && text.len() as u64 >= size.saturating_sub(1))
}

/// Bytes as text. A cut text may end in the middle of a character: that part goes.
fn to_text(bytes: Cow<'_, [u8]>, is_cut: bool) -> Cow<'_, str> {
    match bytes {
        Cow::Borrowed(bytes) => {
            let bytes = if is_cut { without_part(bytes) } else { bytes };
            escape::lossy(bytes)
        }
        Cow::Owned(mut bytes) => {
            if is_cut {
                bytes.truncate(without_part(&bytes).len());
            }
            Cow::Owned(
                String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into()),
            )
        }
    }
}

/// `bytes` without an unfinished character at their end.
fn without_part(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => bytes.get(..error.valid_up_to()).unwrap_or(bytes),
        _ => bytes,
    }
}

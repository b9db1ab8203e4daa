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
        let values = Values::new(values);
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
        let mut text = Value::default();
        let mut cuts = 0;
        for (at, slot) in self.fields.iter().enumerate() {
            let value = values.next()?;
            if slot.role == Role::Text {
                text = value;
                continue;
            }
            if slot.is_text {
                let (value, is_cut) = value.decode(strsize);
                cuts += u64::from(is_cut);
                self.set_text(&mut query, at, value);
            } else if !value.bytes.is_empty() {
                let number = number::parse(value.bytes)?;
                let number = if slot.scale == 1 { number } else { number.checked_mul(slot.scale)? };
                self.set_number(&mut query, &mut length, at, number)?;
            }
        }
        if !values.is_empty() {
            return None;
        }
        (query.text, query.cut) = text.decode_known(strsize, length);
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
            row.push(if value.bytes.is_empty() {
                FieldValue::Unknown
            } else if slot.is_text {
                let (text, is_cut) = value.decode(strsize);
                cut.keys = cut.keys.saturating_add(u64::from(is_cut));
                FieldValue::Text(text.unwrap_or_default().into_owned())
            } else {
                FieldValue::Int(number::parse(value.bytes)?.checked_mul(slot.scale)?)
            });
        }
        values.is_empty().then_some(row)
    }
}

/// The values of a line, split at tabs.
struct Values<'a> {
    rest: Option<&'a [u8]>,
    /// The same as text, if the whole line is one: then no value needs to be checked by itself.
    text: Option<&'a str>,
}

/// A value as it was printed.
#[derive(Clone, Copy, Default)]
struct Value<'a> {
    bytes: &'a [u8],
    text: Option<&'a str>,
}

impl<'a> Values<'a> {
    fn new(values: Option<&'a [u8]>) -> Values<'a> {
        Values { rest: values, text: values.and_then(|values| std::str::from_utf8(values).ok()) }
    }

    fn next(&mut self) -> Option<Value<'a>> {
        /// Most values are shorter: a search byte by byte is faster there.
        const SHORT: usize = 16;
        let rest = self.rest?;
        let start = rest.get(..SHORT).unwrap_or(rest);
        let end = start
            .iter()
            .position(|&byte| byte == b'\t')
            .or_else(|| memchr::memchr(b'\t', rest.get(SHORT..)?).map(|at| at.saturating_add(SHORT)));
        let Some(end) = end else {
            self.rest = None;
            return Some(Value { bytes: rest, text: self.text });
        };
        let behind = end.saturating_add(1);
        let value = Value { bytes: rest.get(..end)?, text: self.text.and_then(|text| text.get(..end)) };
        self.rest = rest.get(behind..);
        self.text = self.text.and_then(|text| text.get(behind..));
        Some(value)
    }

    fn is_empty(&self) -> bool {
        self.rest.is_none()
    }
}

impl<'a> Value<'a> {
    /// The text that was printed by `%S`, and whether it was cut; `None` for an empty value, which means unknown.
    fn decode(self, strsize: Option<u64>) -> (Option<Cow<'a, str>>, bool) {
        if self.bytes.is_empty() {
            return (None, false);
        }
        let (text, is_cut) = self.decode_known(strsize, None);
        (Some(text), is_cut)
    }

    /// The same, where an empty value is an empty text; `length` is that of the whole text, if it is known.
    fn decode_known(self, strsize: Option<u64>, length: Option<u64>) -> (Cow<'a, str>, bool) {
        let bytes = escape::undo(self.bytes);
        let is_cut = is_full(&bytes, strsize) || length.is_some_and(|length| (bytes.len() as u64) < length);
        // What is not escaped is the beginning of the value.
        let text = match (&bytes, self.text) {
            (Cow::Borrowed(bytes), Some(text)) if !is_cut => text.get(..bytes.len()).map(Cow::Borrowed),
            _ => None,
        };
        (text.unwrap_or_else(|| to_text(bytes, is_cut)), is_cut)
    }
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

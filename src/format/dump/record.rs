//! Records of a dump: one line each, tab-separated, as their `# record` heading declares them.

use std::borrow::Cow;

use super::values::{Printed, Values};
use crate::error::Result;
use crate::model::{Field, FieldType, FieldValue, Query, QueryKind, Schema, Trace};

/// How many texts were cut.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cut {
    /// Texts of queries.
    pub(super) queries: u64,
    /// Other texts: keys, users, file names.
    pub(super) keys: u64,
}

/// How texts are read.
#[derive(Default)]
pub(super) struct Texts {
    /// Size of DTrace's buffer, as `# strsize` tells it.
    pub(super) strsize: Option<u64>,
    /// Those that were cut.
    pub(super) cut: Cut,
    /// The last query's text without its escapes, kept for its memory.
    decoded: Vec<u8>,
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
    /// Its values are texts.
    is_text: bool,
    /// How its values are read in a query.
    reads: Reads,
}

/// The ways to read a value of a query.
#[derive(Clone, Copy)]
enum Reads {
    /// The statement.
    Statement,
    Text,
    /// A number as it is.
    Number,
    /// A number that is multiplied.
    Scaled,
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
            let (role, is_text) = (Role::of(name), kind == FieldType::Text);
            let reads = match role {
                Role::Text => Reads::Statement,
                _ if is_text => Reads::Text,
                _ if scale == 1 => Reads::Number,
                _ => Reads::Scaled,
            };
            slots.push(Slot { role, scale, is_text, reads });
        }
        Some(Kind { is_query: *name == "query", schema, fields: slots })
    }

    pub(super) fn name(&self) -> &str {
        &self.schema.kind
    }

    /// What stands behind the kind in a line of it; `None` if the line is of another kind, `Some(None)` if nothing stands there.
    pub(super) fn values<'a>(&self, line: &'a [u8]) -> Option<Option<&'a [u8]>> {
        match line.strip_prefix(self.schema.kind.as_bytes())? {
            [] => Some(None),
            [b'\t', values @ ..] => Some(Some(values)),
            _ => None,
        }
    }

    /// Reads the values of a record into the trace; false if they are not as declared.
    pub(super) fn read(&self, values: Option<&[u8]>, texts: &mut Texts, trace: &mut Trace) -> Result<bool> {
        let values = Values::new(values);
        if self.is_query {
            let mut query = Query::default();
            if self.fill(&mut query, values, texts).is_none() {
                return Ok(false);
            }
            trace.query(query)?;
            return Ok(true);
        }
        let Some(row) = self.event(values, texts) else { return Ok(false) };
        trace.event(&self.schema, row);
        Ok(true)
    }

    /// Fills in a query; `None` if the values are not as declared.
    fn fill<'a>(&'a self, query: &mut Query<'a>, mut values: Values<'a>, texts: &'a mut Texts) -> Option<()> {
        let mut length = None;
        let mut text = Printed::Plain("");
        let mut cuts = 0;
        for (slot, field) in self.fields.iter().zip(&self.schema.fields) {
            match slot.reads {
                Reads::Statement => text = values.text()?,
                Reads::Text => {
                    let (value, is_cut) = values.text()?.decode(texts.strsize);
                    cuts += u64::from(is_cut);
                    set_text(query, slot.role, &field.name, value);
                }
                Reads::Number | Reads::Scaled => {
                    if matches!(slot.reads, Reads::Number)
                        && let Some(number) = values.digits()
                    {
                        set_number(query, &mut length, slot.role, &field.name, number)?;
                    } else if let Some(number) = values.number()? {
                        let number = number.checked_mul(slot.scale)?;
                        set_number(query, &mut length, slot.role, &field.name, number)?;
                    }
                }
            }
        }
        if !values.is_empty() {
            return None;
        }
        (query.text, query.cut) = text.decode_in(&mut texts.decoded, texts.strsize, length);
        texts.cut.queries = texts.cut.queries.saturating_add(u64::from(query.cut));
        texts.cut.keys = texts.cut.keys.saturating_add(cuts);
        Some(())
    }

    fn event(&self, mut values: Values<'_>, texts: &mut Texts) -> Option<Vec<FieldValue>> {
        let mut row = Vec::with_capacity(self.fields.len());
        for slot in &self.fields {
            row.push(if slot.is_text {
                let (text, is_cut) = values.text()?.decode(texts.strsize);
                texts.cut.keys = texts.cut.keys.saturating_add(u64::from(is_cut));
                text.map_or(FieldValue::Unknown, |text| FieldValue::Text(text.into_owned()))
            } else {
                match values.number()? {
                    Some(number) => FieldValue::Int(number.checked_mul(slot.scale)?),
                    None => FieldValue::Unknown,
                }
            });
        }
        values.is_empty().then_some(row)
    }
}

#[inline]
fn set_text<'a>(query: &mut Query<'a>, role: Role, name: &'a str, value: Option<Cow<'a, str>>) {
    match role {
        Role::User => query.user = value,
        Role::Host => query.host = value,
        Role::Database => query.database = value,
        _ => {
            let Some(value) = value else { return };
            match QueryKind::from_word(&value).filter(|_| role == Role::Kind) {
                Some(kind) => query.kind = kind,
                None => query.attributes.push((Cow::Borrowed(name), value)),
            }
        }
    }
}

/// `None` if the number is none that the field can have.
#[inline]
fn set_number<'a, N>(
    query: &mut Query<'a>,
    length: &mut Option<u64>,
    role: Role,
    name: &'a str,
    number: N,
) -> Option<()>
where
    N: TryInto<i64> + TryInto<u64> + ToString + Copy,
{
    let signed = || TryInto::<i64>::try_into(number).ok();
    let unsigned = || TryInto::<u64>::try_into(number).ok();
    match role {
        Role::End => query.end = Some(signed()?),
        Role::Status => query.status = Some(signed()?),
        Role::Connection => query.connection = Some(unsigned()?),
        Role::Elapsed => query.elapsed = Some(unsigned()?),
        Role::LockTime => query.lock_time = Some(unsigned()?),
        Role::RowsSent => query.rows_sent = Some(unsigned()?),
        Role::RowsExamined => query.rows_examined = Some(unsigned()?),
        Role::RowsAffected => query.rows_affected = Some(unsigned()?),
        Role::Length => *length = Some(unsigned()?),
        _ => query.attributes.push((Cow::Borrowed(name), Cow::Owned(number.to_string()))),
    }
    Some(())
}

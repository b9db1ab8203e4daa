//! Events: records of other kinds than queries (connections, disk I/O, file opens), as their heading declares them.

/// Type of a field, as docs/dump-format.md names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    /// A signed number without unit.
    Int,
    /// Nanoseconds since 1970 UTC.
    Wall,
    /// A duration; the value is nanoseconds whatever the dump's unit was.
    Duration,
    /// An amount of bytes.
    Bytes,
    /// An amount of rows.
    Rows,
    /// Text.
    Text,
}

/// One declared field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: FieldType,
}

impl Field {
    /// Whether the field is a number.
    pub fn is_number(&self) -> bool {
        self.kind != FieldType::Text
    }
}

/// A kind of record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// Name of the kind, e.g. `io`.
    pub kind: String,
    /// Its fields in order.
    pub fields: Vec<Field>,
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldValue {
    /// Not known.
    Unknown,
    /// A number, in the unit of its [`FieldType`].
    Int(i128),
    /// A text.
    Text(String),
}

/// All records of one kind, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventTable {
    /// Their shape.
    pub schema: Schema,
    /// One vector of values a record, as long as the schema's fields.
    pub rows: Vec<Vec<FieldValue>>,
}

//! One event of a slow log while it is being read: its texts in buffers that are used again for the next one.

use std::borrow::Cow;

use super::MAX_TEXT;
use super::header::{self, Time};
use crate::format::escape;
use crate::model::{Query, QueryKind};

/// Where in an event the reader is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Place {
    /// Before an event.
    #[default]
    Start,
    /// In the lines that a server writes when it opens its log.
    Banner,
    /// After a header line, before the statement.
    Header,
    /// In the statement.
    Text,
    /// After an administrator command.
    Done,
}

/// One event.
#[derive(Default)]
pub(super) struct Event {
    pub(super) text: Vec<u8>,
    pub(super) cut: bool,
    /// The last line of the statement ended in `;`.
    pub(super) terminated: bool,
    /// Lines of the statement were dropped.
    pub(super) overlong: bool,
    /// `Log_slow_rate_limit`, 0 if not told.
    pub(super) rate: u64,
    user: Vec<u8>,
    host: Vec<u8>,
    schema: Vec<u8>,
    /// `Schema:` was told, if only as empty.
    has_schema: bool,
    /// `use` stands in this event.
    has_use: bool,
    time: Option<Time>,
    timestamp: Option<i64>,
    query: Query<'static>,
    measured: bool,
    /// Names and values of attributes, one after another, and where each name and value ends.
    attribute_bytes: Vec<u8>,
    attributes: Vec<(usize, usize)>,
}

impl Event {
    /// Makes ready for the next event.
    pub(super) fn clear(&mut self) {
        for buffer in [&mut self.text, &mut self.user, &mut self.host, &mut self.schema, &mut self.attribute_bytes] {
            buffer.clear();
        }
        self.attributes.clear();
        (self.cut, self.terminated, self.overlong) = (false, false, false);
        (self.has_schema, self.has_use, self.measured) = (false, false, false);
        (self.time, self.timestamp, self.rate) = (None, None, 0);
        self.query = Query::default();
    }

    /// Whether the times of a statement were told.
    pub(super) fn is_measured(&self) -> bool {
        self.measured
    }

    /// Whether `SET timestamp` has passed, the last line before the statement.
    pub(super) fn has_timestamp(&self) -> bool {
        self.timestamp.is_some()
    }

    /// A header line without its `#`.
    pub(super) fn header(&mut self, line: &[u8]) {
        let Some(line) = line.strip_prefix(b" ") else { return };
        if let Some(who) = line.strip_prefix(b"User@Host: ") {
            self.who(who);
        } else if let Some(time) = line.strip_prefix(b"Time: ") {
            // Percona Server writes the account on the same line.
            let (time, who) = match memchr::memmem::find(time, b"# User@Host: ") {
                Some(at) => (time.get(..at).unwrap_or(time), time.get(at + 13..)),
                None => (time, None),
            };
            self.time = header::time(time.trim_ascii());
            if let Some(who) = who {
                self.who(who);
            }
        } else if let Some(row) = line.strip_prefix(b"explain: ") {
            self.attribute(b"explain", row);
        } else if line.starts_with(b"Warning ") || line.starts_with(b"Error ") || line.starts_with(b"Note ") {
            self.attribute(b"warning", line);
        } else if let Some(routine) = line.strip_prefix(b"Stored routine: ").or(line.strip_prefix(b"Stored_routine: "))
        {
            self.query.kind = QueryKind::Routine;
            self.attribute(b"Stored_routine", routine);
        } else {
            header::pairs(line, |name, value| self.pair(name, value));
        }
    }

    /// A line between headers and statement that is no part of the statement: `use`, `SET timestamp`, Percona's lines without `#`.
    pub(super) fn setting(&mut self, line: &[u8], database: &mut Vec<u8>) -> bool {
        if self.timestamp.is_some() {
            return false;
        }
        if let Some(name) = header::used_database(line) {
            if !self.has_use {
                database.clear();
                database.extend_from_slice(name);
                self.has_use = true;
            }
            return true;
        }
        if let Some(seconds) = header::set_timestamp(line) {
            self.timestamp = Some(seconds);
            return true;
        }
        let numbers = header::is_pairs_of_numbers(line);
        if numbers {
            header::pairs(line, |name, value| self.pair(name, value));
        }
        numbers
    }

    /// The first line of the statement.
    pub(super) fn begin_text(&mut self, line: &[u8]) {
        self.text.clear();
        self.text.extend_from_slice(line);
        self.terminated = line.ends_with(b";");
    }

    /// A further line of the statement.
    pub(super) fn push_text(&mut self, line: &[u8]) {
        self.terminated = line.ends_with(b";");
        if self.overlong || self.text.len() + line.len() > MAX_TEXT {
            (self.overlong, self.cut) = (true, true);
            return;
        }
        self.text.push(b'\n');
        self.text.extend_from_slice(line);
    }

    /// The event is an administrator command.
    pub(super) fn set_admin(&mut self, command: &[u8]) {
        self.text.clear();
        self.text.extend_from_slice(command);
        self.query.kind = QueryKind::Admin;
    }

    /// Zone of the server, from its local time and the timestamp, to a quarter of an hour.
    pub(super) fn zone(&self) -> Option<i32> {
        let (Some(Time { seconds, zoned: false, .. }), Some(timestamp)) = (self.time, self.timestamp) else {
            return None;
        };
        let quarters = (seconds - timestamp + 450).div_euclid(900);
        i32::try_from(quarters.checked_mul(900)?).ok().filter(|zone| zone.abs() <= 15 * 3600)
    }

    /// The event as a query record, and whether bytes had to be replaced. `database` is that of the last `use`.
    pub(super) fn query<'a>(&'a self, database: &'a [u8], zone: Option<i32>) -> (Query<'a>, bool) {
        let text = self.text.strip_suffix(b";").filter(|_| !self.overlong).unwrap_or(&self.text);
        let text = escape::lossy(text);
        let replaced = matches!(text, Cow::Owned(_));
        let known = |bytes: &'a [u8]| (!bytes.is_empty()).then(|| escape::lossy(bytes));
        let inherited = !self.has_use && !self.has_schema;
        let database = known(if self.has_schema { &self.schema } else { database });
        let mut start = 0;
        let mut part = |end: usize| {
            let bytes = self.attribute_bytes.get(start..end).unwrap_or(&[]);
            start = end;
            escape::lossy(bytes)
        };
        let attributes = self.attributes.iter().map(|&(name, value)| (part(name), part(value))).collect();
        let query = Query {
            end: self.end(zone),
            user: known(&self.user),
            host: known(&self.host),
            database_inherited: inherited && database.is_some(),
            database,
            text,
            cut: self.cut,
            attributes,
            connection: self.query.connection,
            status: self.query.status,
            elapsed: self.query.elapsed,
            lock_time: self.query.lock_time,
            rows_sent: self.query.rows_sent,
            rows_examined: self.query.rows_examined,
            rows_affected: self.query.rows_affected,
            kind: self.query.kind,
        };
        (query, replaced)
    }

    /// When the statement ended: the finer of `# Time` and `SET timestamp`.
    fn end(&self, zone: Option<i32>) -> Option<i64> {
        let nanoseconds =
            |seconds: i64, fraction: u32| seconds.checked_mul(1_000_000_000)?.checked_add(i64::from(fraction));
        match (self.time, self.timestamp) {
            (Some(time), _) if time.zoned => nanoseconds(time.seconds, time.fraction),
            (Some(time), Some(timestamp)) => nanoseconds(timestamp, time.fraction),
            (None, Some(timestamp)) => nanoseconds(timestamp, 0),
            (Some(time), None) => nanoseconds(time.seconds - i64::from(zone.unwrap_or(0)), time.fraction),
            (None, None) => None,
        }
    }

    fn who(&mut self, line: &[u8]) {
        let who = header::who(line);
        self.user.clear();
        self.user.extend_from_slice(who.user);
        self.host.clear();
        self.host.extend_from_slice(if who.host.is_empty() { who.address } else { who.host });
        if !who.host.is_empty() && !who.address.is_empty() {
            self.attribute(b"ip", who.address);
        }
        self.query.connection = who.connection.or(self.query.connection);
    }

    fn pair(&mut self, name: &[u8], value: &[u8]) {
        let query = &mut self.query;
        match name {
            b"Query_time" => {
                query.elapsed = header::seconds(value);
                self.measured = true;
            }
            b"Lock_time" => query.lock_time = header::seconds(value),
            b"Rows_sent" => query.rows_sent = header::number(value),
            b"Rows_examined" => query.rows_examined = header::number(value),
            b"Rows_affected" => query.rows_affected = header::number(value),
            b"Thread_id" | b"Id" => query.connection = header::number(value),
            b"Errno" | b"Last_errno" => {
                query.status = header::number(value).and_then(|status| i64::try_from(status).ok())
            }
            b"Schema" => {
                self.schema.clear();
                self.schema.extend_from_slice(value);
                self.has_schema = true;
            }
            _ => {
                if name == b"Log_slow_rate_limit" {
                    self.rate = header::number(value).unwrap_or(0);
                }
                self.attribute(name, value);
            }
        }
    }

    fn attribute(&mut self, name: &[u8], value: &[u8]) {
        self.attribute_bytes.extend_from_slice(name);
        let middle = self.attribute_bytes.len();
        self.attribute_bytes.extend_from_slice(value);
        self.attributes.push((middle, self.attribute_bytes.len()));
    }
}

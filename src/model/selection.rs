//! Which query records are kept.

use std::time::Duration;

use super::{Heading, Query, QueryKind};
use crate::sql;

/// A point in time as a person gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Nanoseconds since 1970 UTC.
    Instant(i64),
    /// The same of a clock in the zone of the traced machine.
    Local(i64),
    /// So long after the start of the trace.
    AfterStart(Duration),
}

impl Moment {
    /// Nanoseconds since 1970 UTC. A trace that does not tell its start began with its first record.
    fn nanoseconds(self, heading: &Heading, first: i64) -> i64 {
        match self {
            Moment::Instant(time) => time,
            Moment::Local(time) => {
                time.saturating_sub(i64::from(heading.zone.unwrap_or(0)).saturating_mul(1_000_000_000))
            }
            Moment::AfterStart(time) => {
                let start = heading.start.unwrap_or(first);
                start.saturating_add(i64::try_from(time.as_nanos()).unwrap_or(i64::MAX))
            }
        }
    }
}

/// Which query records are kept; an empty one keeps all.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Of this user.
    pub user: Option<String>,
    /// From this host or address.
    pub host: Option<String>,
    /// In this database.
    pub database: Option<String>,
    /// That ended then or later.
    pub since: Option<Moment>,
    /// That ended before.
    pub until: Option<Moment>,
    /// Of the digest with this id, or the only one whose id begins so.
    pub digest: Option<String>,
    /// Not inside a stored routine or another statement of its connection.
    pub top_level_only: bool,
}

impl Selection {
    /// Whether all records are kept.
    pub fn is_empty(&self) -> bool {
        let names = [&self.user, &self.host, &self.database, &self.digest];
        names.iter().all(|name| name.is_none()) && self.since.is_none() && self.until.is_none() && !self.top_level_only
    }

    /// Whether a record is kept. `first` is when the first record of the trace ended.
    pub fn keeps(&self, query: &Query<'_>, heading: &Heading, first: i64) -> bool {
        let is =
            |wanted: &Option<String>, found: Option<&str>| wanted.as_deref().is_none_or(|wanted| found == Some(wanted));
        let address = || query.attributes.iter().find(|(name, _)| name == "ip").map(|(_, value)| &**value);
        is(&self.user, query.user.as_deref())
            && is(&self.database, query.database.as_deref())
            && (is(&self.host, query.host.as_deref()) || is(&self.host, address()))
            && self.keeps_time(query, heading, first)
            && !(self.top_level_only && query.kind == QueryKind::Routine)
            && self.digest.as_deref().is_none_or(|wanted| has_digest(query, wanted))
    }

    fn keeps_time(&self, query: &Query<'_>, heading: &Heading, first: i64) -> bool {
        if self.since.is_none() && self.until.is_none() {
            return true;
        }
        let Some(end) = query.end else { return false };
        self.since.is_none_or(|since| end >= since.nanoseconds(heading, first))
            && self.until.is_none_or(|until| end < until.nanoseconds(heading, first))
    }
}

fn has_digest(query: &Query<'_>, wanted: &str) -> bool {
    let id = sql::id(&sql::fingerprint_of(&query.text, query.cut));
    let wanted = wanted.strip_prefix("0x").unwrap_or(wanted);
    !wanted.is_empty() && id.get(..wanted.len()).is_some_and(|start| start.eq_ignore_ascii_case(wanted))
}

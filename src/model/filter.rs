//! Filters: which rows and records are kept. What a filter takes out is no loss, but its weight is told.

use regex::Regex;

use super::{Anonymizer, Heading, Query, Selection};

/// The filters of a command; an empty one keeps everything.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Keep stacks of which a frame or key matches, and records whose text matches.
    pub only: Vec<Regex>,
    /// Leave out stacks and records that match.
    pub without: Vec<Regex>,
    /// Keep records of at least so many nanoseconds, and rows of time series of at least so much.
    pub min: Option<u64>,
    /// Keep rows whose key of that name has that value; records whose field has it.
    pub keys: Vec<(String, String)>,
    /// Take these keys off the rows.
    pub drop_keys: Vec<String>,
    /// Begin stacks at the first frame that matches; stacks without one are left out.
    pub root: Option<Regex>,
    /// Which query records are kept.
    pub queries: Selection,
    /// Hides who and what.
    pub anonymize: Option<Anonymizer>,
}

impl Filter {
    /// Whether everything is kept as it is.
    pub fn is_empty(&self) -> bool {
        self.keeps_all_rows() && self.queries.is_empty() && self.anonymize.is_none()
    }

    /// Whether rows of aggregations and events are kept as they are.
    pub(super) fn keeps_all_rows(&self) -> bool {
        self.only.is_empty()
            && self.without.is_empty()
            && self.min.is_none()
            && self.keys.is_empty()
            && self.drop_keys.is_empty()
            && self.root.is_none()
    }

    /// Whether `--only` and `--without` keep what has these texts.
    pub(super) fn keeps_text<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> bool {
        let mut wanted = self.only.is_empty();
        for text in texts {
            if self.without.iter().any(|regex| regex.is_match(text)) {
                return false;
            }
            wanted = wanted || self.only.iter().any(|regex| regex.is_match(text));
        }
        wanted
    }

    /// Whether a query record is kept. `first` is when the first record of the trace ended.
    pub fn keeps_query(&self, query: &Query<'_>, heading: &Heading, first: i64) -> bool {
        let field_is = |(name, value): &(String, String)| field(query, name).is_some_and(|found| found == *value);
        self.keeps_text([query.text.as_ref()])
            && self.min.is_none_or(|min| query.elapsed.is_some_and(|elapsed| elapsed >= min))
            && self.keys.iter().all(field_is)
            && self.queries.keeps(query, heading, first)
    }
}

/// A field of a query record, by the name that dumps and JSON use.
fn field(query: &Query<'_>, name: &str) -> Option<String> {
    match name {
        "user" => query.user.as_deref().map(str::to_owned),
        "host" => query.host.as_deref().map(str::to_owned),
        "database" => query.database.as_deref().map(str::to_owned),
        "connection" => query.connection.map(|connection| connection.to_string()),
        "status" => query.status.map(|status| status.to_string()),
        "kind" => Some(query.kind.word().to_owned()),
        "query" => Some(query.text.clone().into_owned()),
        other => query.attributes.iter().find(|(found, _)| found == other).map(|(_, value)| value.clone().into_owned()),
    }
}

//! Filters: which rows and records are kept. What a filter takes out is no loss, but its weight is told.

use regex::Regex;

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
}

impl Filter {
    /// Whether everything is kept as it is.
    pub fn is_empty(&self) -> bool {
        self.only.is_empty()
            && self.without.is_empty()
            && self.min.is_none()
            && self.keys.is_empty()
            && self.drop_keys.is_empty()
            && self.root.is_none()
    }
}

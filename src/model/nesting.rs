//! Statements inside others: a stored routine's are logged beside the CALL, so that their time stands twice in a log.
//!
//! Statements of one connection follow each other or lie inside each other. Where ends are known finer than to a second, an
//! interval inside another's is nested; the outer one ends, and is told, last.

use std::collections::{BTreeMap, VecDeque};

use super::{Query, QueryKind};

/// So many statements of a connection are remembered while a log streams.
const REMEMBERED: usize = 64;

/// A statement that may turn out to lie inside a later one.
#[derive(Clone, Copy, Debug)]
struct Span<T> {
    start: i64,
    end: i64,
    what: T,
}

/// The last statements of each connection.
#[derive(Clone, Debug)]
pub(super) struct Recent<T> {
    connections: BTreeMap<u64, VecDeque<Span<T>>>,
}

impl<T> Default for Recent<T> {
    fn default() -> Recent<T> {
        Recent { connections: BTreeMap::new() }
    }
}

impl<T: Copy> Recent<T> {
    /// Remembers a statement, and gives `found` those directly inside it.
    pub(super) fn add(&mut self, query: &Query<'_>, what: T, mut found: impl FnMut(T)) {
        let (Some(connection), Some((start, end))) = (query.connection, interval(query)) else { return };
        let spans = self.connections.entry(connection).or_default();
        while let Some(inner) = spans.back().filter(|inner| inner.start >= start && inner.end <= end) {
            found(inner.what);
            spans.pop_back();
        }
        if spans.len() >= REMEMBERED {
            spans.pop_front();
        }
        spans.push_back(Span { start, end, what });
    }
}

/// Start and end, if the end is known finer than to a second.
fn interval(query: &Query<'_>) -> Option<(i64, i64)> {
    let end = query.end.filter(|end| end % 1_000_000_000 != 0)?;
    Some((query.start()?, end))
}

/// Which of the records lie inside none of the others.
pub(super) fn top_level(queries: &[Query<'_>]) -> Vec<bool> {
    let mut keep: Vec<bool> = queries.iter().map(|query| query.kind != QueryKind::Routine).collect();
    let mut order: Vec<(u64, i64, i64, usize)> = Vec::new();
    for (at, query) in queries.iter().enumerate() {
        if let (Some(connection), Some((start, end))) = (query.connection, interval(query)) {
            // The outer of two that begin together comes first: it ends later.
            order.push((connection, start, end.saturating_neg(), at));
        }
    }
    order.sort_unstable();
    let mut outer: Option<(u64, i64)> = None;
    for (connection, _, end, at) in order {
        let end = end.saturating_neg();
        match outer {
            Some((same, last)) if same == connection && end <= last => {
                if let Some(keep) = keep.get_mut(at) {
                    *keep = false;
                }
            }
            _ => outer = Some((connection, end)),
        }
    }
    keep
}

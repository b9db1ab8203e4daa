//! Which aggregation a row belongs to, and when its next pass begins: dtrace(1) prints neither names nor passes.
//!
//! Rows come in blocks: what one `printa()` prints, or the end of the trace. Blocks are told apart by the lines of text before
//! them and by blank lines. A text with digits (a time stamp, `:tick-5s`) marks a round: the blocks after it are different aggregations, in
//! order, and the next round brings the next pass of each. Other text names what follows; blocks of one shape below it, or without
//! any text, are passes. Rows of one shape in one block are several aggregations if a row comes twice.

use hashbrown::HashMap;

use crate::model::{Function, Key, KeyKind, NameId, SeriesId, Trace, Value};
use crate::units::Unit;

/// How much of a text is kept as a name.
const MAX_NAME: usize = 80;

/// The shape of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// What its keys are.
    pub(super) keys: Vec<KeyKind>,
    /// Whether it has a stack.
    pub(super) has_stack: bool,
    /// The function; count stands for every one that prints a number.
    pub(super) function: Function,
    /// Which of several values of one row.
    pub(super) column: usize,
}

/// An aggregation of the current block.
struct Open {
    shape: Shape,
    /// The how many-th of its shape, from 0.
    repetition: u32,
    rows: u64,
    id: SeriesId,
}

/// A row that came twice.
struct Held {
    shape: Shape,
    keys: Vec<NameId>,
    value: Value,
}

/// The blocks so far.
#[derive(Default)]
pub(super) struct Sections {
    /// The text before the block, digits as `0`; and whether it had any.
    text: Vec<u8>,
    has_digits: bool,
    fresh: bool,
    name: Option<String>,
    is_round: bool,
    ordinal: u32,
    block: u64,
    /// The aggregations of the current block.
    open: Vec<Open>,
    held: Option<Held>,
    /// The block in which a series got its last row.
    last_block: HashMap<usize, u64>,
}

impl Sections {
    /// A line of text that is no row.
    pub(super) fn text(&mut self, line: &[u8]) {
        self.text.clear();
        self.text.extend(line.iter().take(MAX_NAME));
        self.has_digits = line.iter().any(u8::is_ascii_digit);
        self.fresh = true;
    }

    /// A block of rows begins.
    pub(super) fn begin_block(&mut self, trace: &mut Trace) {
        self.finish(trace);
        self.block = self.block.saturating_add(1);
        self.open.clear();
        if std::mem::take(&mut self.fresh) {
            let text = String::from_utf8_lossy(&self.text);
            let text = text.trim_matches(|c: char| c.is_whitespace() || "=-:#*".contains(c));
            self.is_round = self.has_digits;
            self.name = (!self.is_round && !text.is_empty()).then(|| text.to_owned());
            self.ordinal = 0;
        } else if self.is_round {
            self.ordinal = self.ordinal.saturating_add(1);
        }
    }

    /// Adds a row. One that the current aggregation of its shape has already begins the next one, unless only its key came twice: keys that differ
    /// in blanks at their end look alike. So it is held until the row after it is known.
    pub(super) fn row(&mut self, shape: &Shape, keys: &[NameId], stack: &[NameId], value: Value, trace: &mut Trace) {
        let id = self.series(shape, 0, trace);
        // Offsets are taken off frames, so that unlike stacks become alike: stacks never begin an aggregation.
        let again = !shape.has_stack && trace.series_of(id).is_some_and(|series| series.has_now(keys));
        if let Some(held) = self.held.take_if(|held| held.shape != *shape || !again || held.keys == keys) {
            self.settle(held, trace);
        }
        if !again {
            return self.add(id, shape, keys, stack, value, trace);
        }
        if self.held.is_none() && shape.keys.contains(&KeyKind::Text) {
            self.held = Some(Held { shape: shape.clone(), keys: keys.to_vec(), value });
            return;
        }
        let next = self.next_series(shape, trace);
        if let Some(held) = self.held.take() {
            self.add(next, shape, &held.keys, &[], held.value, trace);
        }
        self.add(next, shape, keys, stack, value, trace);
    }

    /// Adds what is held.
    pub(super) fn finish(&mut self, trace: &mut Trace) {
        if let Some(held) = self.held.take() {
            self.settle(held, trace);
        }
    }

    /// A row that came twice and was followed by none that did: an aggregation of its own only if the one before had no other row.
    fn settle(&mut self, held: Held, trace: &mut Trace) {
        let alone = self.open.iter().rev().find(|open| open.shape == held.shape).is_some_and(|open| open.rows < 2);
        let id = if alone { self.next_series(&held.shape, trace) } else { self.series(&held.shape, 0, trace) };
        self.add(id, &held.shape, &held.keys, &[], held.value, trace);
    }

    fn add(&mut self, id: SeriesId, shape: &Shape, keys: &[NameId], stack: &[NameId], value: Value, trace: &mut Trace) {
        if let Some(open) = self.open.iter_mut().rev().find(|open| open.shape == *shape) {
            open.rows = open.rows.saturating_add(1);
        }
        trace.row(id, keys, stack, value);
    }

    fn next_series(&mut self, shape: &Shape, trace: &mut Trace) -> SeriesId {
        let last = self.open.iter().rev().find(|open| open.shape == *shape).map_or(0, |open| open.repetition);
        self.series(shape, last.saturating_add(1), trace)
    }

    /// The aggregation of that shape in the current block: the last one, or one that is at least the `repetition`-th.
    fn series(&mut self, shape: &Shape, repetition: u32, trace: &mut Trace) -> SeriesId {
        if let Some(open) = self.open.iter().rev().find(|open| open.shape == *shape)
            && open.repetition >= repetition
        {
            return open.id;
        }
        let name = self.name_of(repetition, shape.column);
        let key = |kind: &KeyKind| Key { name: None, kind: *kind };
        let keys: Vec<Key> = shape.keys.iter().map(key).collect();
        let id = trace.series(name.as_deref(), shape.function, Unit::Unknown, &keys, shape.has_stack);
        if self.last_block.insert(id.index(), self.block).is_some_and(|last| last != self.block) {
            trace.next_pass(id);
        }
        self.open.push(Open { shape: shape.clone(), repetition, rows: 0, id });
        id
    }

    /// `Totals`, `Totals #2`, `#2`; nothing for the first without a text.
    fn name_of(&self, repetition: u32, column: usize) -> Option<String> {
        let number = |at: u32| at.saturating_add(1);
        let place = match (self.ordinal, repetition, column) {
            (0, 0, 0) => return self.name.clone(),
            (0, repetition, 0) => format!("#{}", number(repetition)),
            (ordinal, 0, 0) => format!("#{}", number(ordinal)),
            (ordinal, repetition, 0) => format!("#{}.{}", number(ordinal), number(repetition)),
            (ordinal, repetition, column) => {
                format!("#{}.{}.{}", number(ordinal), number(repetition), column.saturating_add(1))
            }
        };
        Some(match &self.name {
            Some(name) => format!("{name} {place}"),
            None => place,
        })
    }
}

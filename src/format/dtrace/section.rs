//! Which aggregation a row belongs to, and when its next pass begins: dtrace(1) prints neither names nor passes.
//!
//! Rows come in blocks: what one `printa()` prints, or the end of the trace. Blocks are told apart by the lines of text before
//! them and by blank lines. A text with digits (a time stamp, `:tick-5s`) marks a round: the blocks after it are different aggregations, in
//! order, and the next round brings the next pass of each. Other text names what follows; blocks of one shape below it, or without
//! any text, are passes. Rows of one shape in one block are several aggregations if a row comes twice.

use hashbrown::HashMap;

use crate::model::{Function, Key, KeyKind, NameId, SeriesId, Trace};
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
    /// The aggregations of the current block: shape, repetition, series.
    current: Vec<(Shape, u32, SeriesId)>,
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
    pub(super) fn begin_block(&mut self) {
        self.block = self.block.saturating_add(1);
        self.current.clear();
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

    /// The series for a row of that shape. `seen` tells whether the current pass of a series has the row already: then it belongs to the next
    /// aggregation of that shape.
    pub(super) fn series(
        &mut self,
        shape: &Shape,
        trace: &mut Trace,
        seen: impl Fn(&Trace, SeriesId) -> bool,
    ) -> SeriesId {
        let mut repetition = 0;
        if let Some((_, number, id)) = self.current.iter().rev().find(|(other, _, _)| other == shape) {
            if !seen(trace, *id) {
                return *id;
            }
            repetition = number.saturating_add(1);
        }
        let name = self.name_of(repetition, shape.column);
        let key = |kind: &KeyKind| Key { name: None, kind: *kind };
        let keys: Vec<Key> = shape.keys.iter().map(key).collect();
        let id = trace.series(name.as_deref(), shape.function, Unit::Unknown, &keys, shape.has_stack);
        if let Some(last) = self.last_block.insert(id.index(), self.block) {
            if last != self.block {
                trace.next_pass(id);
            }
        }
        self.current.push((shape.clone(), repetition, id));
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

/// Whether the current pass of a series has the row. Stacks never count: offsets are taken off frames, so that unlike stacks become alike.
pub(super) fn has_row(trace: &Trace, id: SeriesId, keys: &[NameId], has_stack: bool) -> bool {
    !has_stack && trace.series_of(id).is_some_and(|series| series.has_now(keys))
}

//! A series: the rows of one aggregation. A row has keys, perhaps a stack, and a value or a distribution.
//!
//! A traced program may print an aggregation several times ("passes"). Rows keep what is needed to decide at the end whether
//! the last pass or their sum is meant, so that memory grows with the number of distinct rows only.

use std::hash::{BuildHasher, Hash, Hasher};

use hashbrown::{DefaultHashBuilder, HashTable};

use super::texts::Slot;
use super::{Distribution, NameId};
use crate::units::Unit;

/// The aggregating function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// `count()`, or unknown: values add up.
    Count,
    /// `sum()`.
    Sum,
    /// `min()`.
    Min,
    /// `max()`.
    Max,
    /// `avg()`: values of merged rows cannot be added.
    Avg,
    /// `stddev()`, likewise.
    Stddev,
    /// `quantize()`: powers of two.
    Quantize,
    /// `lquantize()`: equal steps.
    Lquantize,
    /// `llquantize()`: equal steps in each power of a factor.
    Llquantize,
}

impl Function {
    /// The function that dumps call so.
    pub fn from_word(word: &str) -> Option<Function> {
        Some(match word {
            "count" => Function::Count,
            "sum" => Function::Sum,
            "min" => Function::Min,
            "max" => Function::Max,
            "avg" => Function::Avg,
            "stddev" => Function::Stddev,
            "quantize" => Function::Quantize,
            "lquantize" => Function::Lquantize,
            "llquantize" => Function::Llquantize,
            _ => return None,
        })
    }

    /// The word that dumps and JSON use.
    pub fn word(self) -> &'static str {
        match self {
            Function::Count => "count",
            Function::Sum => "sum",
            Function::Min => "min",
            Function::Max => "max",
            Function::Avg => "avg",
            Function::Stddev => "stddev",
            Function::Quantize => "quantize",
            Function::Lquantize => "lquantize",
            Function::Llquantize => "llquantize",
        }
    }

    /// Whether it collects distributions.
    pub fn is_distribution(self) -> bool {
        matches!(self, Function::Quantize | Function::Lquantize | Function::Llquantize)
    }
}

/// How a scalar key is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// Text, one frame when drawn.
    Text,
    /// Number.
    Int,
    /// Text whose `;` separate frames.
    Path,
}

/// A scalar key of a series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its name, where the input tells it.
    pub name: Option<String>,
    /// Its kind.
    pub kind: KeyKind,
}

/// What a row holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number in the series' unit.
    Number(i128),
    /// A distribution over the series' unit.
    Distribution(Distribution),
}

/// Which of several passes are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Passes {
    /// As the headings say; else the last if no value ever falls, else the sum.
    #[default]
    Auto,
    /// All passes added.
    Sum,
    /// The last pass.
    Last,
    /// Each pass by itself, under a key of its own.
    Each,
}

/// A row as a view sees it.
pub struct Row<'a> {
    /// Scalar keys, in the order of [`Series::keys`].
    pub keys: &'a [NameId],
    /// The stack, outermost frame first (user, then kernel); empty without one.
    pub stack: &'a [NameId],
    /// The number; for a distribution its count.
    pub value: i128,
    /// The distribution, where the row holds one.
    pub distribution: Option<&'a Distribution>,
}

/// The rows of one aggregation.
pub struct Series {
    /// Name of the aggregation, where the input tells it.
    pub name: Option<String>,
    /// Its function.
    pub function: Function,
    /// Unit of its values.
    pub unit: Unit,
    /// Scalar keys in order.
    pub keys: Vec<Key>,
    /// Whether rows have a stack (it may be empty all the same).
    pub has_stack: bool,
    /// Depth at which stacks were cut, where it is known.
    pub depth: Option<u32>,
    decimals: u32,
    ids: Vec<NameId>,
    rows: Vec<Cell>,
    distributions: Vec<Spread>,
    index: HashTable<Slot>,
    hasher: DefaultHashBuilder,
    pass: PassState,
}

/// One row's place and values. `done`: dumps before this one. In this dump: `sum` over passes, `last` pass, and the pass before that.
struct Cell {
    start: usize,
    length: u32,
    seen: u32,
    distribution: u32,
    done: i128,
    sum: i128,
    last: i128,
    before: i128,
}

const NO_DISTRIBUTION: u32 = u32::MAX;

#[derive(Default)]
struct Spread {
    done: Distribution,
    sum: Distribution,
    last: Distribution,
}

#[derive(Default)]
struct PassState {
    /// Number of the current pass, counted over all dumps; rows of pass 0 do not exist.
    number: u32,
    /// First pass of the current dump.
    first: u32,
    /// Number that its trace gives to the pass in which the series was declared last.
    entered: u32,
    /// Rows seen in the current pass.
    touched: usize,
    /// Rows seen in the current dump.
    alive: usize,
    /// A value fell or a row vanished in the current dump: passes are no running totals.
    fell: bool,
    /// A row came in two passes of the current dump. Else the blocks of rows are parts of one pass.
    repeated: bool,
    /// What the dump's headings say.
    declared: Option<bool>,
    /// Dumps whose passes were added, and dumps of which the last pass was taken.
    decided: (u32, u32),
}

impl Series {
    /// An empty series.
    pub fn new(name: Option<String>, function: Function, unit: Unit, keys: Vec<Key>, has_stack: bool) -> Series {
        Series {
            name,
            function,
            unit,
            keys,
            has_stack,
            depth: None,
            decimals: 0,
            ids: Vec::new(),
            rows: Vec::new(),
            distributions: Vec::new(),
            index: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            pass: PassState { number: 1, first: 1, ..PassState::default() },
        }
    }

    /// A series of the same kind with other keys and without rows.
    pub(super) fn empty_like(&self, keys: Vec<Key>) -> Series {
        let mut empty = Series::new(self.name.clone(), self.function, self.unit.clone(), keys, self.has_stack);
        empty.depth = self.depth;
        empty.decimals = self.decimals;
        empty.pass.decided = self.pass.decided;
        empty
    }

    /// Whether values of rows may be added up to a total.
    pub fn is_additive(&self) -> bool {
        !matches!(self.function, Function::Min | Function::Max | Function::Avg | Function::Stddev)
    }

    /// Whether rows hold distributions.
    pub fn is_distribution(&self) -> bool {
        self.function.is_distribution()
    }

    /// Number of distinct rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether it has no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds a value to the row with these keys and that stack, in the current pass.
    pub fn add(&mut self, keys: &[NameId], stack: &[NameId], value: Value) {
        let at = self.row(keys, stack);
        let function = self.function;
        let Some(cell) = self.rows.get_mut(at) else { return };
        let fresh = cell.seen != self.pass.number;
        if fresh {
            self.pass.alive += usize::from(cell.seen < self.pass.first);
            self.pass.touched += 1;
            if cell.seen >= self.pass.first && cell.last < cell.before {
                self.pass.fell = true;
            }
            self.pass.repeated |= cell.seen >= self.pass.first;
            cell.before = if cell.seen >= self.pass.first { cell.last } else { i128::MIN };
            cell.seen = self.pass.number;
        }
        let (number, spread) = match value {
            Value::Number(number) => (number, None),
            Value::Distribution(spread) => (spread.count(), Some(spread)),
        };
        cell.last = if fresh { number } else { merged(function, cell.last, number) };
        cell.sum = if fresh && cell.before == i128::MIN { number } else { merged(function, cell.sum, number) };
        if let Some(spread) = spread {
            if cell.distribution == NO_DISTRIBUTION {
                cell.distribution = u32::try_from(self.distributions.len()).unwrap_or(NO_DISTRIBUTION);
                self.distributions.push(Spread::default());
            }
            if let Some(kept) = self.distributions.get_mut(cell.distribution as usize) {
                if fresh {
                    kept.last = Distribution::new();
                }
                kept.last.merge(&spread);
                kept.sum.merge(&spread);
            }
        }
    }

    /// Whether the current pass has a row with these keys and no stack.
    pub fn has_now(&self, keys: &[NameId]) -> bool {
        let wanted = Slot { hash: hash_ids(&self.hasher, keys.iter()), index: 0 };
        let same = |slot: &Slot| slot.hash == wanted.hash && self.ids_of(slot.index) == keys;
        let found = self.index.find(wanted.spread(), same).and_then(|slot| self.rows.get(slot.index as usize));
        found.is_some_and(|cell| cell.seen == self.pass.number)
    }

    /// Digits behind the decimal point that the values stand for: they are multiplied by 10 to that power.
    pub fn decimals(&self) -> u32 {
        self.decimals
    }

    /// Multiplies all values so that they stand for that many digits behind the decimal point.
    pub fn set_decimals(&mut self, decimals: u32) {
        let Some(factor) = decimals.checked_sub(self.decimals).and_then(|more| 10i128.checked_pow(more)) else {
            return;
        };
        self.decimals = decimals;
        for cell in &mut self.rows {
            for value in [&mut cell.done, &mut cell.sum, &mut cell.last, &mut cell.before] {
                *value = if *value == i128::MIN { i128::MIN } else { value.saturating_mul(factor) };
            }
        }
    }

    /// Begins the next pass. Says nothing if the current one is still empty.
    pub fn next_pass(&mut self) {
        if self.pass.touched == 0 {
            return;
        }
        self.end_pass();
        self.pass.number = self.pass.number.saturating_add(1);
        self.pass.touched = 0;
    }

    /// The series is declared inside pass `number` of its trace: a pass of its own, if that is another one than before.
    pub fn enter_pass(&mut self, number: u32) {
        if std::mem::replace(&mut self.pass.entered, number) != number {
            self.next_pass();
        }
    }

    /// Number of the current pass in its dump, from 1.
    pub fn pass_number(&self) -> u32 {
        self.pass.number.saturating_sub(self.pass.first).saturating_add(1)
    }

    /// What the input says of its passes: running totals or not.
    pub fn declare_cumulative(&mut self, cumulative: bool) {
        self.pass.declared = Some(cumulative);
    }

    /// Ends a dump: its passes are settled by `passes`, and what follows is added to them.
    pub fn end_dump(&mut self, passes: Passes) {
        self.end_pass();
        let many = self.pass.number > self.pass.first && self.pass.repeated;
        let cumulative = match passes {
            Passes::Auto => self.pass.declared.unwrap_or(!self.pass.fell && !self.any_fell()),
            Passes::Last => true,
            Passes::Sum | Passes::Each => false,
        };
        if many && self.pass.alive > 0 {
            let decided = &mut self.pass.decided;
            *(if cumulative { &mut decided.1 } else { &mut decided.0 }) += 1;
        }
        for cell in &mut self.rows {
            if cell.seen < self.pass.first {
                continue;
            }
            let current = cell.seen == self.pass.number;
            let value = match (cumulative, current) {
                (true, true) => Some(cell.last),
                (true, false) => None,
                (false, _) => Some(cell.sum),
            };
            if let Some(value) = value {
                cell.done = if cell.done == i128::MIN { value } else { merged(self.function, cell.done, value) };
            }
            if let Some(spread) = self.distributions.get_mut(cell.distribution as usize) {
                match (cumulative, current) {
                    (true, true) => spread.done.merge(&spread.last),
                    (true, false) => {}
                    (false, _) => spread.done.merge(&spread.sum),
                }
                (spread.sum, spread.last) = Default::default();
            }
        }
        self.pass.number = self.pass.number.saturating_add(1);
        self.pass = PassState {
            number: self.pass.number,
            first: self.pass.number,
            entered: self.pass.entered,
            decided: self.pass.decided,
            ..PassState::default()
        };
    }

    /// In how many dumps several passes were added, and in how many the last was taken.
    pub fn passes_decided(&self) -> (u32, u32) {
        self.pass.decided
    }

    /// The settled rows, in order of first occurrence.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().filter(|cell| cell.done != i128::MIN).map(|cell| {
            let ids = self.ids.get(cell.start..cell.start + cell.length as usize).unwrap_or(&[]);
            let (keys, stack) = ids.split_at(self.keys.len().min(ids.len()));
            let distribution = self.distributions.get(cell.distribution as usize).map(|spread| &spread.done);
            Row { keys, stack, value: cell.done, distribution }
        })
    }

    /// Sum of all settled values; meaningful if [`Series::is_additive`].
    pub fn total(&self) -> i128 {
        self.rows().fold(0, |sum: i128, row| sum.saturating_add(row.value))
    }

    fn ids_of(&self, index: u32) -> &[NameId] {
        let range = self.rows.get(index as usize).map_or(0..0, |cell| cell.start..cell.start + cell.length as usize);
        self.ids.get(range).unwrap_or(&[])
    }

    fn end_pass(&mut self) {
        if self.pass.touched < self.pass.alive && self.pass.touched > 0 {
            self.pass.fell = true;
        }
    }

    fn any_fell(&self) -> bool {
        self.rows.iter().any(|cell| cell.seen >= self.pass.first && cell.last < cell.before)
    }

    fn row(&mut self, keys: &[NameId], stack: &[NameId]) -> usize {
        let hash = hash_ids(&self.hasher, keys.iter().chain(stack));
        let index = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        let slot = Slot { hash, index };
        let same = |known: &Slot| {
            if known.hash != hash {
                return false;
            }
            let found = self.ids_of(known.index);
            found.len() == keys.len() + stack.len() && found.starts_with(keys) && found.ends_with(stack)
        };
        if let Some(known) = self.index.find(slot.spread(), same) {
            return known.index as usize;
        }
        let start = self.ids.len();
        self.ids.extend_from_slice(keys);
        self.ids.extend_from_slice(stack);
        let length = u32::try_from(self.ids.len() - start).unwrap_or(u32::MAX);
        self.rows.push(Cell {
            start,
            length,
            seen: 0,
            distribution: NO_DISTRIBUTION,
            done: i128::MIN,
            sum: 0,
            last: 0,
            before: i128::MIN,
        });
        self.index.insert_unique(slot.spread(), slot, Slot::spread);
        index as usize
    }
}

/// Two values of one row in one pass, made one. Averages cannot be merged: the larger is kept.
fn merged(function: Function, a: i128, b: i128) -> i128 {
    match function {
        Function::Min => a.min(b),
        Function::Max | Function::Avg | Function::Stddev => a.max(b),
        _ => a.saturating_add(b),
    }
}

fn hash_ids<'a>(hasher: &DefaultHashBuilder, ids: impl Iterator<Item = &'a NameId>) -> u32 {
    let mut state = hasher.build_hasher();
    ids.for_each(|id| id.hash(&mut state));
    state.finish() as u32
}

//! From the parts of a row to the row: keys, stacks, value, and the aggregation that it belongs to.

use super::{Reader, State};
use crate::format::dtrace::row::{self, Datum};
use crate::format::dtrace::section::Shape;
use crate::format::stack::Stack;
use crate::model::{Function, KeyKind, NameId, Trace, Value};
use crate::units::Unit;

/// Modules that hold kernel code on the four systems.
const KERNELS: [&str; 5] = ["vmlinux`", "kernel`", "genunix`", "unix`", "mach_kernel`"];

impl Reader {
    pub(super) fn start_row(&mut self) {
        self.before = std::mem::take(&mut self.blanks);
        self.gap = 0;
        self.complete = false;
    }

    /// What was collected as text becomes keys.
    pub(super) fn settle_keys(&mut self, trace: &mut Trace) {
        let text = std::mem::take(&mut self.text);
        match row::split_whole(&text) {
            Some(data) => self.push_keys(&data, trace),
            None if text.trim_ascii().is_empty() => {}
            None => self.keys.push((trace.names.text(text.trim_ascii()), KeyKind::Text)),
        }
        self.complete = false;
    }

    pub(super) fn push_keys(&mut self, data: &[Datum<'_>], trace: &mut Trace) {
        for datum in data {
            self.keys.push(match datum {
                Datum::Text(text) => (trace.names.text(text), KeyKind::Text),
                Datum::Number(value, _) => (trace.names.text(value.to_string().as_bytes()), KeyKind::Int),
            });
        }
    }

    /// A row that is drawn as a bar.
    pub(super) fn emit_bar(&mut self, key: &[u8], value: i128, trace: &mut Trace) {
        let state = self.state;
        if !key.is_empty() {
            self.keys.push((trace.names.text(key), KeyKind::Text));
        }
        self.emit(false, Value::Number(value), 0, trace);
        self.clear();
        self.state = state;
    }

    /// The row that ended with its line.
    pub(super) fn emit_pending(&mut self, trace: &mut Trace) {
        let text = std::mem::take(&mut self.text);
        let data = row::split(&text).unwrap_or_default();
        if let Some((value, keys)) = data.split_last().and_then(|(last, keys)| Some((last.value()?, keys))) {
            self.push_keys(keys, trace);
            let has_stack = self.first.len() > 0 || self.is_empty_stack();
            self.emit(has_stack, Value::Number(value), 0, trace);
        }
        self.clear();
    }

    /// A number alone is the value of an aggregation without keys, or of an empty stack: DTrace prints a blank line for it, and one before all rows, and one
    /// more for Ctrl-C.
    pub(super) fn is_empty_stack(&self) -> bool {
        self.keys.is_empty() && (self.before > 2 || (self.before == 1 && self.after_bare && !self.text_before))
    }

    /// A value below a stack, or below keys: then the stack is empty, unless a hex dump put the value on a line of its own.
    pub(super) fn emit_value(&mut self, value: i128, column: usize, trace: &mut Trace) {
        let has_stack = self.first.len() > 0 || self.gap > 0 || !self.after_hex;
        self.emit(has_stack, Value::Number(value), column, trace);
    }

    pub(super) fn emit_distribution(&mut self, trace: &mut Trace) {
        let block = std::mem::take(&mut self.block);
        let function = block.function();
        if !block.is_empty() {
            let has_stack = self.first.len() > 0 || self.gap > u32::from(self.after_hex);
            self.emit_as(function, has_stack, Value::Distribution(block.finish(function)), 0, trace);
        }
        self.clear();
        self.blanks = 0;
    }

    pub(super) fn emit(&mut self, has_stack: bool, value: Value, column: usize, trace: &mut Trace) {
        self.emit_as(Function::Count, has_stack, value, column, trace);
    }

    pub(super) fn emit_as(
        &mut self,
        function: Function,
        has_stack: bool,
        value: Value,
        column: usize,
        trace: &mut Trace,
    ) {
        let counter = match (function, has_stack) {
            (Function::Count, true) => &mut self.found.stacks,
            (Function::Count, false) => &mut self.found.rows,
            _ => &mut self.found.distributions,
        };
        *counter = counter.saturating_add(1);
        // Two blank lines at a trace's end by Ctrl-C, and two empty lines of a row with two stacks.
        let is_first = self.found.rows.saturating_add(self.found.stacks).saturating_add(self.found.distributions) == 1;
        self.seen_two |= self.second.len() > 0 || (is_first && self.keys_before == 0 && self.before >= 4);
        let own = self.own_blanks();
        if column == 0 && (std::mem::take(&mut self.text_before) || self.before > own) {
            self.sections.begin_block(trace);
        }
        // Both are kept for their memory.
        let (mut stack, mut row) = (std::mem::take(&mut self.stack), std::mem::take(&mut self.row));
        self.join(&mut stack, trace);
        row.clear();
        row.extend(self.keys.iter().map(|key| key.0));
        let shape = Shape { keys: self.keys.iter().map(|key| key.1).collect(), has_stack, function, column };
        self.sections.row(&shape, &row, &stack, value, trace);
        (self.stack, self.row) = (stack, row);
        self.after_bare = has_stack && self.keys_before == 0;
        self.keys_before = 0;
    }

    /// How many blank lines the row itself may begin with: a first datum that is a stack, a distribution or a hex dump brings one. Rows of an own
    /// format, with frames that are not indented, may have any.
    pub(super) fn own_blanks(&self) -> u32 {
        let starts_with_keys = if self.first.len() > 0 { self.keys_before > 0 } else { !self.keys.is_empty() };
        match (!starts_with_keys, self.seen_two) {
            _ if self.first.len() > 0 && self.indent == 0 => u32::MAX,
            (false, _) => u32::from(self.hex_first()),
            (true, false) => 1,
            (true, true) => 2,
        }
    }

    /// Whether the row began with a hex dump: its lines were never text.
    pub(super) fn hex_first(&self) -> bool {
        self.keys.first().is_some_and(|key| key.1 == KeyKind::Text) && self.before == 1
    }

    /// Puts both stacks into `all`, outermost frame first, user below kernel. The kernel's is the first, unless only the second has kernel
    /// frames.
    fn join(&self, all: &mut Vec<NameId>, trace: &Trace) {
        all.clear();
        if self.second.len() == 0 {
            return all.extend(self.first.outermost_first());
        }
        // After the swap the stack that was printed first is `second`.
        let is_kernel = |stack: &Stack| {
            stack.outermost_first().any(|id| KERNELS.iter().any(|kernel| trace.names.get(id).starts_with(kernel)))
        };
        let (kernel, user) = match (is_kernel(&self.second), is_kernel(&self.first)) {
            (false, true) => (&self.first, &self.second),
            _ => (&self.second, &self.first),
        };
        all.extend(user.outermost_first().chain(kernel.outermost_first()));
    }

    /// A stack that the program printed by itself, without an aggregation: one sample.
    pub(super) fn bare_stack(&mut self, trace: &mut Trace) {
        if self.first.len() > 0 {
            let name = Some("stacks without a value");
            let id = trace.series(name, Function::Count, Unit::Samples, &[], true);
            for stack in [&self.second, &self.first].into_iter().filter(|stack| stack.len() > 0) {
                let frames: Vec<NameId> = stack.outermost_first().collect();
                trace.row(id, &[], &frames, Value::Number(1));
                self.found.bare = self.found.bare.saturating_add(1);
            }
        }
        self.clear();
    }

    pub(super) fn lost_stack(&mut self, trace: &mut Trace) {
        trace.losses("stack without its value at the end, left out", 1);
        self.clear();
    }

    /// What looked like the beginning of a row is none.
    pub(super) fn drop_row(&mut self, trace: &mut Trace) {
        if self.first.len() > 0 {
            return self.bare_stack(trace);
        }
        self.give_up();
    }

    pub(super) fn give_up(&mut self) {
        if !self.text.is_empty() {
            let lines = memchr::memchr_iter(b'\n', &self.text).count() as u64;
            self.found.texts = self.found.texts.saturating_add(lines).saturating_add(1);
        }
        self.clear();
    }

    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.keys.clear();
        self.first.clear();
        self.second.clear();
        self.label.clear();
        self.complete = false;
        self.after_hex = false;
        self.after_blank = false;
        self.gap = 0;
        self.blanks = 0;
        self.indent = 0;
        self.state = State::Between;
    }
}

//! The reader of dtrace(1)'s text: a row is put together line by line.

use super::hex;
use super::line;
use super::row::{self, Datum};
use super::section::{Sections, Shape};
use crate::format::distribution::{self, Block};
use crate::format::stack::Stack;
use crate::format::{diagnostic, number};
use crate::model::{Function, KeyKind, NameId, Severity, Trace, Value};
use crate::units::Unit;

/// Columns by which dtrace(1) indents frames (`-x stackindent` changes it).
const INDENT: usize = 14;
/// Longest key text that is put together from lines; string buffers are rarely larger than some kilobytes.
const MAX_TEXT: usize = 256 << 10;
/// Modules that hold kernel code on the four systems.
const KERNELS: [&str; 5] = ["vmlinux`", "kernel`", "genunix`", "unix`", "mach_kernel`"];

/// What was found so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Found {
    /// The title line of dtrace(1).
    pub(super) title: bool,
    /// Rows with a stack and a value.
    pub(super) stacks: u64,
    /// Distributions.
    pub(super) distributions: u64,
    /// Rows without either.
    pub(super) rows: u64,
    /// Lines that are none of these.
    texts: u64,
    /// Stacks without a value.
    bare: u64,
}

/// What the next line can be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// A row may begin.
    #[default]
    Between,
    /// Text: nothing begins before the next blank line.
    Text,
    /// A line of data is there; more keys, a stack or a distribution may follow.
    Keys,
    /// A hex dump.
    Hex,
    /// Frames.
    Frames,
    /// Keys behind a stack that are not complete yet.
    Tail,
    /// Buckets.
    Buckets,
}

/// A row that is being put together.
#[derive(Default)]
pub(super) struct Reader {
    state: State,
    found: Found,
    sections: Sections,
    /// Lines of data that are not yet keys.
    text: Vec<u8>,
    /// Whether `text` ends in a value, so that the row is complete unless a stack follows.
    complete: bool,
    keys: Vec<(NameId, KeyKind)>,
    /// How many of them stand before the stack.
    keys_before: usize,
    first: Stack,
    second: Stack,
    /// Indent of the frames of this row.
    indent: usize,
    /// Blank lines: before this row, within it since the last frame, and since the last row.
    before: u32,
    gap: u32,
    blanks: u32,
    hex: hex::Dump,
    block: Block,
    /// A text line that stands right before this one: the key of a stack that is printed by `%s%k`.
    label: Vec<u8>,
    /// Shape of the last row: has a stack and no key.
    after_bare: bool,
    /// The last key of this row was a hex dump: a value may follow without a stack.
    after_hex: bool,
    /// The line before was blank, and part of a key's text.
    after_blank: bool,
    /// The line before ended in CR LF: the CR belongs to a text with line ends.
    after_return: bool,
    seen_two: bool,
    text_before: bool,
}

impl Reader {
    /// What was found so far.
    pub(super) fn found(&self) -> Found {
        self.found
    }

    /// Takes the next line; `has_return`: it ended in CR LF.
    pub(super) fn line(&mut self, line: &[u8], has_return: bool, number: u64, trace: &mut Trace) {
        self.take(line, number, trace);
        self.after_return = has_return;
    }

    fn take(&mut self, line: &[u8], number: u64, trace: &mut Trace) {
        if line.first() == Some(&b'd') && diagnostic::read(line, trace) {
            return;
        }
        match self.state {
            State::Buckets if self.block.push(line) => return,
            State::Buckets => {
                self.emit_distribution(trace);
                if line.is_empty() {
                    return;
                }
            }
            State::Hex if self.hex.push(line) => return,
            State::Hex => {
                let text = std::mem::take(&mut self.hex).finish();
                self.keys.push((trace.names.text(&text), KeyKind::Text));
                self.state = State::Keys;
                self.after_hex = true;
            }
            _ => {}
        }
        if line.is_empty() {
            return self.blank(trace);
        }
        if self.frame(line, number, trace) || self.block_begins(line, trace) {
            return;
        }
        match self.state {
            State::Frames => self.after_frames(line, number, trace),
            State::Keys | State::Tail => self.more_keys(line, trace),
            State::Between | State::Text | State::Buckets | State::Hex => self.begin(line),
        }
    }

    /// Ends the input. What is not complete is told, if `tell`.
    pub(super) fn finish(&mut self, tell: bool, trace: &mut Trace) {
        match self.state {
            State::Buckets => self.emit_distribution(trace),
            State::Keys if self.complete => self.emit_pending(trace),
            State::Frames | State::Tail if self.found.stacks == 0 && self.gap > 0 => self.bare_stack(trace),
            State::Frames | State::Tail => self.lost_stack(trace),
            _ => self.give_up(),
        }
        self.sections.finish(trace);
        if !tell {
            return;
        }
        if self.found.texts > 0 {
            let text = "lines that are no stack, row or distribution, passed over";
            trace.notes.add(Severity::Info, text.into(), self.found.texts, 0, None);
        }
        if self.found.bare > 0 {
            let text = "stacks without a value, each taken as one sample";
            trace.notes.add(Severity::Info, text.into(), self.found.bare, 0, None);
        }
        let Found { stacks, distributions, rows, bare, texts, title } = self.found;
        if title && stacks == 0 && distributions == 0 && rows == 0 && bare == 0 && texts == 0 {
            trace.notes.info("nothing but dtrace's title line: no probe fired, or nothing was printed");
        }
    }

    fn blank(&mut self, trace: &mut Trace) {
        match self.state {
            State::Keys if self.complete => {
                self.emit_pending(trace);
                self.blanks = 1;
            }
            State::Keys | State::Tail if !self.text.is_empty() && row::is_open(&self.text) => {
                self.end_text_line();
                self.after_blank = true;
            }
            State::Keys | State::Frames | State::Tail => {
                self.gap = self.gap.saturating_add(1);
                if self.gap > 2 {
                    self.bare_stack(trace);
                    self.blanks = 1;
                }
            }
            _ => {
                self.blanks = self.blanks.saturating_add(1);
                self.state = State::Between;
            }
        }
        self.commit_label();
    }

    /// The text line before is no key of a stack: it names or dates what follows.
    fn commit_label(&mut self) {
        if !self.label.is_empty() {
            self.sections.text(&self.label);
            self.text_before = true;
            self.label.clear();
        }
    }

    /// Takes the line if it is a frame.
    fn frame(&mut self, line: &[u8], number: u64, trace: &mut Trace) -> bool {
        let indent = line::indent(line);
        let text = line.get(indent..).unwrap_or(&[]).trim_ascii_end();
        if line::is_numbers(text) {
            return false;
        }
        let fits = match self.state {
            State::Frames if line::is_annotation(text) => true,
            State::Frames if indent == self.indent => indent >= 8 || line::is_frame(text),
            State::Frames => indent > 0 && self.indent > 0 && self.gap > 0 && line::is_frame(text),
            State::Tail => false,
            State::Text => indent == 0 && !self.label.is_empty() && line::is_frame(text),
            State::Keys if self.complete || row::split(&self.text).is_some() || self.text.is_empty() => {
                indent == INDENT || (line::is_frame(text) && !row::ends_in_value(line))
            }
            State::Keys => indent == INDENT && line::is_frame(text),
            _ if indent == INDENT => line::is_frame(text) || (self.blanks > 0 && row::split(line).is_none()),
            _ => {
                line::is_frame(text) && (self.blanks > 0 || indent > 0) && !row::ends_in_value(line) && line.len() != 52
            }
        };
        if fits {
            self.push_frame(indent, text, number, trace);
        }
        fits
    }

    fn push_frame(&mut self, indent: usize, text: &[u8], number: u64, trace: &mut Trace) {
        match self.state {
            State::Frames => {}
            State::Keys => self.settle_keys(trace),
            State::Text => self.take_label(trace),
            _ => self.start_row(),
        }
        if self.state != State::Frames {
            self.state = State::Frames;
            self.keys_before = self.keys.len();
            self.indent = indent;
            self.gap = 0;
        }
        if self.gap > 0 {
            if self.second.len() > 0 {
                trace.loss("third stack of one row, or stack without a value: taken as a row of its own", number);
                self.bare_stack(trace);
                self.state = State::Frames;
                self.start_row();
            } else {
                std::mem::swap(&mut self.first, &mut self.second);
            }
            self.gap = 0;
        }
        self.first.push(text, &mut trace.names);
    }

    /// The text line before is the key of this row, printed by a format as `%s%k`.
    fn take_label(&mut self, trace: &mut Trace) {
        self.start_row();
        let label = std::mem::take(&mut self.label);
        if !label.is_empty() {
            self.found.texts = self.found.texts.saturating_sub(1);
            self.keys.push((trace.names.text(label.trim_ascii()), KeyKind::Text));
        }
    }

    /// Takes the line if a distribution or a hex dump begins.
    fn block_begins(&mut self, line: &[u8], trace: &mut Trace) -> bool {
        let is_block = distribution::is_header(line);
        if !is_block && !hex::is_header(line) {
            return false;
        }
        match self.state {
            State::Keys | State::Tail => self.settle_keys(trace),
            State::Frames => {}
            State::Text if is_block => self.take_label(trace),
            _ => self.start_row(),
        }
        self.state = if is_block { State::Buckets } else { State::Hex };
        true
    }

    /// A line where a row may begin.
    fn begin(&mut self, line: &[u8]) {
        if self.header(line) {
            return;
        }
        if self.state == State::Text || line.first() != Some(&b' ') {
            return self.pass_over(line);
        }
        match row::split(line) {
            Some(data) => {
                self.start_row();
                self.state = State::Keys;
                self.complete = data.last().is_some_and(|last| last.value().is_some());
                self.text.extend_from_slice(line);
            }
            None if line.starts_with(b"  ") => {
                self.start_row();
                self.state = State::Keys;
                self.text.extend_from_slice(line);
            }
            None => self.pass_over(line),
        }
    }

    /// A line after the beginning of a row that has neither value nor stack yet.
    fn more_keys(&mut self, line: &[u8], trace: &mut Trace) {
        if self.complete {
            self.emit_pending(trace);
            return self.begin(line);
        }
        let whole = self.text.is_empty() || (!self.text.ends_with(b"\n") && row::split(&self.text).is_some());
        if whole && self.end_row(line, trace) {
            return;
        }
        let broken = self.after_blank && row::split(line).is_some_and(|data| data.first().is_some_and(is_padded));
        if broken || self.text.len() > MAX_TEXT || line::fired(line).is_some() {
            self.drop_row(trace);
            return self.begin(line);
        }
        self.end_text_line();
        self.text.extend_from_slice(line);
        self.after_blank = false;
        if row::ends_in_value(line) {
            if let Some(data) = row::split(&self.text) {
                self.complete = data.last().is_some_and(|last| last.value().is_some());
                if self.complete && self.state == State::Tail {
                    self.emit_pending(trace);
                }
            }
        }
    }

    fn end_text_line(&mut self) {
        self.text.extend_from_slice(if self.after_return { b"\r\n" } else { b"\n" });
    }

    /// A line after frames that is none itself.
    fn after_frames(&mut self, line: &[u8], number: u64, trace: &mut Trace) {
        if line::fired(line).is_some() || line::is_title(line) {
            self.bare_stack(trace);
            return self.begin(line);
        }
        if self.end_row(line, trace) {
            return;
        }
        if line.starts_with(b"  ") && self.indent > 0 {
            self.state = State::Tail;
            self.text.extend_from_slice(line);
            return;
        }
        if self.gap > 0 {
            self.bare_stack(trace);
        } else {
            trace.loss("stack whose value has a format of its own, left out", number);
            self.clear();
            self.state = State::Text;
        }
        self.begin(line);
    }

    /// Takes the line if it ends the row: keys behind the stack and values.
    fn end_row(&mut self, line: &[u8], trace: &mut Trace) -> bool {
        let text = line.trim_ascii();
        if let Some(value) = number::parse(text) {
            if self.indent > 0 && line.first() != Some(&b' ') {
                return false;
            }
            self.settle_keys(trace);
            self.emit_value(value, 0, trace);
            self.clear();
            return true;
        }
        let Some(data) = row::split(line).filter(|data| data.last().is_some_and(|last| last.value().is_some())) else {
            return false;
        };
        self.settle_keys(trace);
        self.take_values(&data, trace);
        self.clear();
        true
    }

    /// Under a stack a number as wide as a value is one; narrower numbers and texts are keys.
    fn take_values(&mut self, data: &[Datum<'_>], trace: &mut Trace) {
        let values = data.iter().rev().map_while(|datum| datum.value()).count();
        let (keys, values) = data.split_at(data.len().saturating_sub(values));
        self.push_keys(keys, trace);
        for (column, value) in values.iter().filter_map(|datum| datum.value()).enumerate() {
            self.emit_value(value, column, trace);
        }
    }

    fn header(&mut self, line: &[u8]) -> bool {
        if line::is_title(line) {
            self.found.title = true;
            self.state = State::Between;
            return true;
        }
        let Some(name) = line::fired(line) else { return false };
        self.commit_label();
        self.sections.text(name);
        self.text_before = true;
        self.blanks = 1;
        self.state = State::Between;
        if memchr::memchr(b' ', name).and_then(|end| name.get(end..)).is_some_and(|rest| !rest.trim_ascii().is_empty())
        {
            self.found.texts = self.found.texts.saturating_add(1);
            self.state = State::Text;
        }
        true
    }

    fn pass_over(&mut self, line: &[u8]) {
        self.found.texts = self.found.texts.saturating_add(1);
        self.commit_label();
        self.state = State::Text;
        self.label.extend(line.iter().take(MAX_TEXT));
        self.blanks = 0;
    }

    fn start_row(&mut self) {
        self.before = std::mem::take(&mut self.blanks);
        self.gap = 0;
        self.complete = false;
    }

    /// What was collected as text becomes keys.
    fn settle_keys(&mut self, trace: &mut Trace) {
        let text = std::mem::take(&mut self.text);
        match row::split_whole(&text) {
            Some(data) => self.push_keys(&data, trace),
            None if text.trim_ascii().is_empty() => {}
            None => self.keys.push((trace.names.text(text.trim_ascii()), KeyKind::Text)),
        }
        self.complete = false;
    }

    fn push_keys(&mut self, data: &[Datum<'_>], trace: &mut Trace) {
        for datum in data {
            self.keys.push(match datum {
                Datum::Text(text) => (trace.names.text(text), KeyKind::Text),
                Datum::Number(value, _) => (trace.names.text(value.to_string().as_bytes()), KeyKind::Int),
            });
        }
    }

    /// The row that ended with its line.
    fn emit_pending(&mut self, trace: &mut Trace) {
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
    fn is_empty_stack(&self) -> bool {
        self.keys.is_empty() && (self.before > 2 || (self.before == 1 && self.after_bare && !self.text_before))
    }

    /// A value below a stack, or below keys: then the stack is empty, unless a hex dump put the value on a line of its own.
    fn emit_value(&mut self, value: i128, column: usize, trace: &mut Trace) {
        let has_stack = self.first.len() > 0 || self.gap > 0 || !self.after_hex;
        self.emit(has_stack, Value::Number(value), column, trace);
    }

    fn emit_distribution(&mut self, trace: &mut Trace) {
        let block = std::mem::take(&mut self.block);
        let function = block.function();
        if !block.is_empty() {
            let has_stack = self.first.len() > 0 || self.gap > u32::from(self.after_hex);
            self.emit_as(function, has_stack, Value::Distribution(block.finish(function)), 0, trace);
        }
        self.clear();
        self.blanks = 0;
    }

    fn emit(&mut self, has_stack: bool, value: Value, column: usize, trace: &mut Trace) {
        self.emit_as(Function::Count, has_stack, value, column, trace);
    }

    fn emit_as(&mut self, function: Function, has_stack: bool, value: Value, column: usize, trace: &mut Trace) {
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
        let keys: Vec<NameId> = self.keys.iter().map(|key| key.0).collect();
        let shape = Shape { keys: self.keys.iter().map(|key| key.1).collect(), has_stack, function, column };
        let stack = self.joined(trace);
        self.sections.row(&shape, &keys, &stack, value, trace);
        self.after_bare = has_stack && self.keys_before == 0;
        self.keys_before = 0;
    }

    /// How many blank lines the row itself may begin with: a first datum that is a stack, a distribution or a hex dump brings one. Rows of an own
    /// format, with frames that are not indented, may have any.
    fn own_blanks(&self) -> u32 {
        let starts_with_keys = if self.first.len() > 0 { self.keys_before > 0 } else { !self.keys.is_empty() };
        match (!starts_with_keys, self.seen_two) {
            _ if self.first.len() > 0 && self.indent == 0 => u32::MAX,
            (false, _) => u32::from(self.hex_first()),
            (true, false) => 1,
            (true, true) => 2,
        }
    }

    /// Whether the row began with a hex dump: its lines were never text.
    fn hex_first(&self) -> bool {
        self.keys.first().is_some_and(|key| key.1 == KeyKind::Text) && self.before == 1
    }

    /// Both stacks, outermost frame first, user below kernel. The kernel's is the first, unless only the second has kernel frames.
    fn joined(&self, trace: &Trace) -> Vec<NameId> {
        if self.second.len() == 0 {
            return self.first.outermost_first().collect();
        }
        // After the swap the stack that was printed first is `second`.
        let is_kernel = |stack: &Stack| {
            stack.outermost_first().any(|id| KERNELS.iter().any(|kernel| trace.names.get(id).starts_with(kernel)))
        };
        let (kernel, user) = match (is_kernel(&self.second), is_kernel(&self.first)) {
            (false, true) => (&self.first, &self.second),
            _ => (&self.second, &self.first),
        };
        user.outermost_first().chain(kernel.outermost_first()).collect()
    }

    /// A stack that the program printed by itself, without an aggregation: one sample.
    fn bare_stack(&mut self, trace: &mut Trace) {
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

    fn lost_stack(&mut self, trace: &mut Trace) {
        trace.losses("stack without its value at the end, left out", 1);
        self.clear();
    }

    /// What looked like the beginning of a row is none.
    fn drop_row(&mut self, trace: &mut Trace) {
        if self.first.len() > 0 {
            return self.bare_stack(trace);
        }
        self.give_up();
    }

    fn give_up(&mut self) {
        if !self.text.is_empty() {
            let lines = memchr::memchr_iter(b'\n', &self.text).count() as u64;
            self.found.texts = self.found.texts.saturating_add(lines).saturating_add(1);
        }
        self.clear();
    }

    fn clear(&mut self) {
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

/// A short string in its columns, or a number: a key that no continued text looks like.
fn is_padded(datum: &Datum<'_>) -> bool {
    matches!(datum, Datum::Number(..)) || matches!(datum, Datum::Text(text) if text.len() < 50)
}

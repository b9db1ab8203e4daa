//! The reader of dtrace(1)'s text: a row is put together line by line.

mod emit;

use super::ahead::{Known, LEAST_INDENT};
use super::bars::{self, Bars};
use super::hex;
use super::line;
use super::row::{self, Datum};
use super::section::Sections;
use crate::format::distribution::{self, Block};
use crate::format::stack::Stack;
use crate::format::{diagnostic, number};
use crate::input::Lines;
use crate::model::{KeyKind, NameId, Severity, Trace};

/// Columns by which dtrace(1) indents frames (`-x stackindent` changes it).
const INDENT: usize = 14;
/// Longest key text that is put together from lines; string buffers are rarely larger than some kilobytes.
const MAX_TEXT: usize = 256 << 10;

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
    /// Rows that are drawn as bars.
    Bars(Bars),
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
    /// What marked lines stand for, and the mark of this line.
    known: Known,
    mark: Option<u32>,
    /// Keys and frames of the last row.
    row: Vec<NameId>,
    stack: Vec<NameId>,
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

    /// A reader of lines that `ahead::marker(any_offset)` may have marked.
    pub(super) fn of_marked(any_offset: bool) -> Reader {
        Reader { known: Known::new(any_offset), ..Reader::default() }
    }

    /// The mark of the line that comes next.
    pub(super) fn mark(&mut self, mark: Option<u32>) {
        self.mark = mark;
    }

    /// Takes the next line; `has_return`: it ended in CR LF.
    pub(super) fn line(&mut self, line: &[u8], has_return: bool, number: u64, trace: &mut Trace) {
        self.take(line, number, trace);
        self.after_return = has_return;
    }

    /// Takes frames that are marked or come as they came before: what `line` would make of them needs no second look.
    pub(super) fn known_frames(&mut self, lines: &mut Lines, trace: &mut Trace) {
        if self.state != State::Frames || self.gap > 0 || self.indent < LEAST_INDENT {
            return;
        }
        self.after_return = false;
        if let Some(marked) = lines.marked().filter(|marked| marked.indent == self.indent) {
            self.known.push(&marked, &mut self.first, &mut trace.names);
            let (count, length) = (marked.numbers.len(), marked.lines.len());
            lines.pass_over_marked(count, length);
        }
        self.first.take_known(lines, self.indent, &mut trace.names);
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
            State::Bars(bars) => {
                if let Some((key, value)) = bars.row(line) {
                    return self.emit_bar(key, value, trace);
                }
                self.state = State::Between;
            }
            // The most frequent end of a row: a number alone below its stack.
            State::Frames if line.first() == Some(&b' ') => {
                let text = line.trim_ascii();
                if let Some(value) = number::parse(text).filter(|_| line::is_numbers(text)) {
                    self.settle_keys(trace);
                    self.emit_value(value, 0, trace);
                    return self.clear();
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
            State::Between | State::Text | State::Buckets | State::Bars(_) | State::Hex => self.begin(line),
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
            State::Frames if indent == self.indent => indent >= LEAST_INDENT || line::is_frame(text),
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
        match self.mark {
            Some(number) => self.first.push_frame(self.known.frame(number, text, &mut trace.names)),
            None => self.first.push(text, &mut trace.names),
        }
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
        if let Some(bars) = bars::header(line) {
            self.drop_row(trace);
            self.start_row();
            self.state = State::Bars(bars);
            return true;
        }
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
        if row::ends_in_value(line)
            && let Some(data) = row::split(&self.text)
        {
            self.complete = data.last().is_some_and(|last| last.value().is_some());
            if self.complete && self.state == State::Tail {
                self.emit_pending(trace);
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
}

/// A short string in its columns, or a number: a key that no continued text looks like.
fn is_padded(datum: &Datum<'_>) -> bool {
    matches!(datum, Datum::Number(..)) || matches!(datum, Datum::Text(text) if text.len() < 50)
}

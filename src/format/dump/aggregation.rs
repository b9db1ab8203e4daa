//! Aggregations of a dump: keys by `%S` and tabs, stacks by `%k` on lines of their own, value or distribution last.

use super::record::field_type;
use super::values::is_full;
use crate::format::distribution::{self, Block};
use crate::format::stack::Stack;
use crate::format::{escape, number};
use crate::input::Lines;
use crate::model::{FieldType, Function, Key, KeyKind, NameId, SeriesId, Trace, Value};
use crate::units::Unit;

/// An aggregation between its heading and its `# end`.
pub(super) struct Aggregation {
    series: SeriesId,
    function: Function,
    keys: Vec<Key>,
    stacks: Vec<Part>,
    is_distribution: bool,
    strsize: Option<u64>,
    /// Keys of the row that is being read.
    row: Vec<NameId>,
    /// Its frames; one for each declared stack.
    frames: Vec<Stack>,
    /// Both stacks of the last row as one.
    stack: Vec<NameId>,
    /// The stack that the next frame belongs to.
    at: usize,
    /// Blanks before the last frame.
    indent: usize,
    state: State,
    block: Block,
    cut: u64,
}

/// A declared stack.
#[derive(Clone, Copy)]
struct Part {
    is_kernel: bool,
    depth: Option<u32>,
}

/// What the next line can be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// The keys of a row.
    Keys,
    /// A frame, or the value.
    Frames,
    /// A bucket.
    Buckets,
    /// The blank lines after a distribution.
    AfterBuckets,
}

impl Aggregation {
    /// The aggregation that `# aggregation` declares; an error says what is wrong with it.
    pub(super) fn declared(
        fields: &[&str],
        strsize: Option<u64>,
        trace: &mut Trace,
    ) -> Result<Aggregation, &'static str> {
        let field = |at: usize| fields.get(at).map_or("", |field| field.trim_end());
        let name = field(0);
        if name.is_empty() {
            return Err("no name");
        }
        let function = Function::from_word(field(1)).ok_or("unknown function")?;
        let unit = Unit::from_word(field(2));
        let (mut keys, mut stacks) = (Vec::new(), Vec::new());
        for key in fields.get(3..).unwrap_or(&[]) {
            let (name, word) = key.trim_end().split_once(':').unwrap_or((key, "text"));
            let (word, depth) = word.split_once('/').map_or((word, None), |(word, depth)| (word, depth.parse().ok()));
            match word {
                "frames" | "kernel" => stacks.push(Part { is_kernel: word == "kernel", depth }),
                _ if !stacks.is_empty() => return Err("a key behind a stack"),
                _ => keys.push(Key { name: Some(name.to_owned()), kind: key_kind(word) }),
            }
        }
        let series = trace.series(Some(name), function, unit, &keys, !stacks.is_empty());
        let depth = stacks.iter().filter(|part| !part.is_kernel).find_map(|part| part.depth);
        if let Some(series) = trace.series_mut(series) {
            series.depth = series.depth.or(depth);
        }
        Ok(Aggregation {
            series,
            function,
            keys,
            frames: stacks.iter().map(|_| Stack::default()).collect(),
            stacks,
            is_distribution: function.is_distribution(),
            strsize,
            row: Vec::new(),
            stack: Vec::new(),
            at: 0,
            indent: 0,
            state: State::Keys,
            block: Block::default(),
            cut: 0,
        })
    }

    /// Whether a line is a row without stacks: as many tabs as keys, and a number at the end.
    pub(super) fn is_row(&self, line: &[u8]) -> bool {
        let last = memchr::memrchr(b'\t', line).map_or(0, |at| at.saturating_add(1));
        let tabs = memchr::memchr_iter(b'\t', line).count();
        let tail = line.get(last..).unwrap_or(&[]);
        self.state != State::Frames
            && tabs == self.keys.len()
            && if self.stacks.is_empty() && !self.is_distribution {
                number::parse(tail).is_some()
            } else {
                tail.is_empty() && tabs > 0
            }
    }

    /// Takes a line between heading and end.
    pub(super) fn line(&mut self, line: &[u8], number: u64, trace: &mut Trace) {
        if matches!(self.state, State::Buckets) {
            if self.block.push(line) {
                return;
            }
            self.emit_distribution(trace);
            self.state = State::AfterBuckets;
        }
        if self.is_distribution && distribution::is_header(line) {
            self.state = State::Buckets;
            return;
        }
        match self.state {
            State::AfterBuckets if line.is_empty() => {}
            State::Keys | State::AfterBuckets => self.keys(line, number, trace),
            State::Frames | State::Buckets => self.frame(line, number, trace),
        }
    }

    fn keys(&mut self, line: &[u8], line_number: u64, trace: &mut Trace) {
        let after_block = self.state == State::AfterBuckets;
        self.clear();
        self.state = State::Keys;
        let mut rest = line;
        for key in &self.keys {
            let Some(end) = memchr::memchr(b'\t', rest) else {
                trace.loss("row with fewer keys than declared, passed over", line_number);
                return;
            };
            let bytes = escape::undo(rest.get(..end).unwrap_or(&[]));
            self.cut = self.cut.saturating_add(u64::from(key.kind != KeyKind::Int && is_full(&bytes, self.strsize)));
            self.row.push(trace.names.text(&bytes));
            rest = rest.get(end.saturating_add(1)..).unwrap_or(&[]);
        }
        if self.stacks.is_empty() && !self.is_distribution {
            match number::parse(rest) {
                Some(value) => trace.row(self.series, &self.row, &[], Value::Number(value)),
                None => trace.loss("row without a number at its end, passed over", line_number),
            }
            return;
        }
        if self.keys.is_empty() && after_block && !rest.is_empty() {
            // The blank lines around distributions leave open which of them began this row.
            self.state = State::Frames;
            return self.frame(rest, line_number, trace);
        }
        if !rest.is_empty() {
            trace.loss("row with more keys than declared, passed over", line_number);
            return;
        }
        self.state = State::Frames;
    }

    fn frame(&mut self, line: &[u8], line_number: u64, trace: &mut Trace) {
        let text = line.trim_ascii();
        if text.is_empty() {
            self.at = self.at.saturating_add(1);
            return;
        }
        if let Some(value) = number::parse(text).filter(|_| !self.is_distribution) {
            self.emit(Value::Number(value), trace);
            self.state = State::Keys;
            return;
        }
        // A row that was cut off: the next one begins with its keys.
        if !self.keys.is_empty() && self.is_row(line) && line.ends_with(b"\t") {
            trace.loss("stack without its value, passed over", line_number);
            return self.keys(line, line_number, trace);
        }
        let last = self.frames.len().saturating_sub(1);
        self.indent = line.iter().take_while(|&&byte| byte == b' ').count();
        match self.frames.get_mut(self.at.min(last)) {
            Some(frames) => frames.push(text, &mut trace.names),
            None => trace.loss("frame in an aggregation without stacks, passed over", line_number),
        }
    }

    /// Takes frames that come as they came before: what `line` would make of them needs no second look.
    pub(super) fn known_frames(&mut self, lines: &mut Lines, trace: &mut Trace) {
        // Without indent a line may be a heading; between buckets one may look like a frame.
        if self.state == State::Frames && self.indent > 0 && !self.is_distribution {
            let last = self.frames.len().saturating_sub(1);
            if let Some(frames) = self.frames.get_mut(self.at.min(last)) {
                frames.take_known(lines, self.indent, &mut trace.names);
            }
        }
    }

    fn emit_distribution(&mut self, trace: &mut Trace) {
        let block = std::mem::take(&mut self.block);
        self.emit(Value::Distribution(block.finish(self.function)), trace);
        self.clear();
    }

    /// Adds the row with its stacks as one, outermost frame first: user below kernel.
    fn emit(&mut self, value: Value, trace: &mut Trace) {
        self.stack.clear();
        for kernel in [false, true] {
            for (part, frames) in self.stacks.iter().zip(&self.frames).filter(|(part, _)| part.is_kernel == kernel) {
                if part.depth.is_some_and(|depth| frames.len() >= depth as usize) {
                    self.stack.push(trace.names.text(crate::model::CUT_STACK.as_bytes()));
                }
                self.stack.extend(frames.outermost_first());
            }
        }
        trace.row(self.series, &self.row, &self.stack, value);
    }

    fn clear(&mut self) {
        self.row.clear();
        self.frames.iter_mut().for_each(Stack::clear);
        self.at = 0;
    }

    /// Ends the aggregation; how many of its key texts were cut.
    pub(super) fn finish(mut self, number: u64, trace: &mut Trace) -> u64 {
        match self.state {
            State::Buckets if !self.block.is_empty() => self.emit_distribution(trace),
            State::Frames => trace.loss("stack without its value, passed over", number),
            _ => {}
        }
        self.cut
    }
}

fn key_kind(word: &str) -> KeyKind {
    match (word, field_type(word).0) {
        ("path", _) => KeyKind::Path,
        (_, FieldType::Text) => KeyKind::Text,
        _ => KeyKind::Int,
    }
}

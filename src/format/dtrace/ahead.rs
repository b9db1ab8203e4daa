//! What a thread that reads ahead can tell of lines by themselves: which ones stand for the same frame.
//!
//! What a line is depends on the lines before it. But among the frames of a stack, a line with their indent and a text of certain looks can
//! be nothing else, and finding its text among those that came before is most of the work. The thread does that by itself, in a table of its own,
//! and marks such lines with the number of the text; for the reader a number stands for what it made of the text when it came first.

use crate::format::stack::Stack;
use crate::input::{Marked, Marker, Marks};
use crate::model::{FrameLines, NameId, Names};

/// Lines with less indent are frames only by their looks.
pub(super) const LEAST_INDENT: usize = 8;

/// Finds frames; `any_offset`: lines that differ in their offset only have one number.
pub(super) fn marker(any_offset: bool) -> Marker {
    let mut lines = FrameLines::default();
    Box::new(move |text, marks| mark(text, &mut lines, any_offset, marks))
}

fn mark(text: &[u8], lines: &mut FrameLines, any_offset: bool, marks: &mut Marks) {
    let (mut at, mut indent, mut last) = (0usize, 0usize, None);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        // Mostly the indent is that of the line before.
        let known = last.and_then(|last| lines.known(last, after(rest, indent)?));
        let (line, length) = match known {
            Some(known) => known,
            None => {
                let whole = rest.get(..memchr::memchr(b'\n', rest).unwrap_or(rest.len())).unwrap_or(&[]);
                indent = super::line::indent(whole);
                let Some(text) = whole.get(indent..).filter(|text| indent >= LEAST_INDENT && is_frame(text)) else {
                    last = None;
                    at = at.saturating_add(whole.len()).saturating_add(1);
                    continue;
                };
                (lines.find(text).unwrap_or_else(|| lines.add(text, NameId(0), any_offset)), text.len())
            }
        };
        if let Some(before) = last.replace(line) {
            lines.follow(before, line);
        }
        let start = at;
        at = start.saturating_add(indent).saturating_add(length).saturating_add(1);
        marks.add(start, at, indent, line.number());
    }
}

/// What stands behind that many blanks.
fn after(rest: &[u8], indent: usize) -> Option<&[u8]> {
    let (blanks, text) = rest.split_at_checked(indent)?;
    blanks.iter().fold(true, |all, &byte| all & (byte == b' ')).then_some(text)
}

/// Whether the text is a frame wherever frames stand: no number, no note of a helper, and nothing to trim.
fn is_frame(text: &[u8]) -> bool {
    text.first().is_some_and(|first| first.is_ascii_graphic() && *first != b'[')
        && text.last().is_some_and(|last| !last.is_ascii_whitespace())
        && text.iter().any(u8::is_ascii_alphabetic)
}

/// No frame yet.
const NONE: NameId = NameId(u32::MAX);

/// The frames that the reader made of marked texts, by their numbers.
#[derive(Default)]
pub(super) struct Known {
    any_offset: bool,
    frames: Vec<NameId>,
}

impl Known {
    /// Nothing yet; `any_offset` as for the marker.
    pub(super) fn new(any_offset: bool) -> Known {
        Known { any_offset, frames: Vec::new() }
    }

    /// Pushes marked lines.
    pub(super) fn push(&mut self, marked: &Marked<'_>, stack: &mut Stack, names: &mut Names) {
        // Texts are only looked at where a number is new.
        let mut lines = marked.lines.split(|&byte| byte == b'\n');
        let mut ahead = 0usize;
        for &number in marked.numbers {
            let known = self.frames.get(number as usize).copied().filter(|frame| *frame != NONE);
            let frame = known.unwrap_or_else(|| {
                let line = lines.nth(std::mem::take(&mut ahead)).unwrap_or(&[]);
                self.frame(number, line.get(marked.indent..).unwrap_or(&[]), names)
            });
            ahead = if known.is_some() { ahead.saturating_add(1) } else { 0 };
            stack.push_frame(frame);
        }
    }

    /// The frame of a marked line with that text.
    pub(super) fn frame(&mut self, number: u32, text: &[u8], names: &mut Names) -> NameId {
        let at = number as usize;
        if let Some(&known) = self.frames.get(at).filter(|frame| **frame != NONE) {
            return known;
        }
        let line = names.line(text);
        let frame = names.name_of(line);
        if !self.any_offset || names.stands_for_alike(line, text) {
            if self.frames.len() <= at {
                self.frames.resize(at.saturating_add(1), NONE);
            }
            if let Some(known) = self.frames.get_mut(at) {
                *known = frame;
            }
        }
        frame
    }
}

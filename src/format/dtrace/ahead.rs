//! What a thread that reads ahead can tell of lines by themselves: which ones stand for the same frame.
//!
//! What a line is depends on the lines before it. But among the frames of a stack, a line with their indent and a text of certain looks can
//! be nothing else, and finding its text among those that came before is most of the work. The thread does that by itself, in a table of its own,
//! and marks such lines with the number of the text; for the reader a number stands for what it made of the text when it came first.

use crate::input::{Mark, Marker};
use crate::model::{FrameLines, LineId, NameId, Names};

/// Lines with less indent are frames only by their looks.
pub(super) const LEAST_INDENT: usize = 8;

/// Finds frames; `any_offset`: lines that differ in their offset only have one number.
pub(super) fn marker(any_offset: bool) -> Marker {
    let mut lines = FrameLines::default();
    Box::new(move |text, marks| mark(text, &mut lines, any_offset, marks))
}

fn mark(text: &[u8], lines: &mut FrameLines, any_offset: bool, marks: &mut Vec<Mark>) {
    let (mut at, mut indent, mut last) = (0usize, 0usize, None);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        // Mostly the indent is that of the line before.
        let known = last.and_then(|last| lines.known(last, after(rest, indent)?));
        let found = known.or_else(|| {
            let line = rest.get(..memchr::memchr(b'\n', rest)?)?;
            indent = super::line::indent(line);
            let text = line.get(indent..).filter(|text| indent >= LEAST_INDENT && is_frame(text))?;
            Some((lines.find(text).unwrap_or_else(|| lines.add(text, NameId(0), any_offset)), text.len()))
        });
        let Some((line, length)) = found else {
            last = None;
            at = memchr::memchr(b'\n', rest).map_or(text.len(), |end| at.saturating_add(end).saturating_add(1));
            continue;
        };
        if let Some(before) = last.replace(line) {
            lines.follow(before, line);
        }
        let number = |number: usize| u32::try_from(number).ok();
        if let (Some(start), Some(indent), Some(length)) = (number(at), number(indent), number(length)) {
            marks.push(Mark { at: start, indent, length, id: line.number() });
        }
        at = at.saturating_add(indent).saturating_add(length).saturating_add(1);
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

/// What the reader made of marked texts, by their numbers.
pub(super) struct Known {
    any_offset: bool,
    frames: Vec<Option<(LineId, NameId)>>,
}

impl Known {
    /// Nothing yet; `any_offset` as for the marker.
    pub(super) fn new(any_offset: bool) -> Known {
        Known { any_offset, frames: Vec::new() }
    }

    /// The frame of a marked line.
    pub(super) fn frame(&mut self, id: u32, text: &[u8], names: &mut Names) -> (LineId, NameId) {
        let id = id as usize;
        if let Some(&Some(known)) = self.frames.get(id) {
            return known;
        }
        let line = names.line(text);
        let found = (line, names.name_of(line));
        if !self.any_offset || names.stands_for_alike(line, text) {
            if self.frames.len() <= id {
                self.frames.resize(id.saturating_add(1), None);
            }
            if let Some(frame) = self.frames.get_mut(id) {
                *frame = Some(found);
            }
        }
        found
    }
}

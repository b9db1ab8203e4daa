//! A stack while it is being read: innermost frame first, as DTrace prints it.

use crate::input::Lines;
use crate::model::{LineId, NameId, Names};

/// The frames so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Stack {
    frames: Vec<NameId>,
    /// The line of the last frame.
    last: Option<LineId>,
}

impl Stack {
    /// Takes the text of a frame's line, without indent. `[ text ]` is the note of a ustack helper on the frame before.
    pub(super) fn push(&mut self, text: &[u8], names: &mut Names) {
        if let Some(note) = annotation(text)
            && let Some(frame) = self.frames.last_mut()
        {
            let joined = format!("{} [{}]", names.get(*frame), String::from_utf8_lossy(note));
            *frame = names.text(joined.as_bytes());
            return;
        }
        let line = names.line(text);
        if let Some(last) = self.last.replace(line) {
            names.follow(last, line);
        }
        self.frames.push(names.name_of(line));
    }

    /// Takes lines with that indent as long as they are known as frames; nothing else of them needs a look.
    pub(super) fn take_known(&mut self, lines: &mut Lines, indent: usize, names: &mut Names) {
        while let Some(last) = self.last {
            let Some((line, length)) = lines.indented(indent).and_then(|rest| names.known(last, rest)) else { return };
            lines.pass_over(indent.saturating_add(length));
            self.frames.push(names.name_of(line));
            self.last = Some(line);
        }
    }

    /// Takes a frame by its name alone; which line it was is not known.
    pub(super) fn push_frame(&mut self, frame: NameId) {
        self.frames.push(frame);
        self.last = None;
    }

    /// The frames as pictures want them.
    pub(super) fn outermost_first(&self) -> impl Iterator<Item = NameId> + '_ {
        self.frames.iter().rev().copied()
    }

    /// How many frames there are.
    pub(super) fn len(&self) -> usize {
        self.frames.len()
    }

    /// Makes room for the next stack.
    pub(super) fn clear(&mut self) {
        self.frames.clear();
        self.last = None;
    }
}

/// The text between `[ ` and ` ]`.
fn annotation(text: &[u8]) -> Option<&[u8]> {
    text.strip_prefix(b"[ ")?.strip_suffix(b"]").map(<[u8]>::trim_ascii)
}

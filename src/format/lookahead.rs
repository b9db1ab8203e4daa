//! Lines with a look at the next one, for formats where only the next line tells whether a record has ended.

use crate::input::Lines;

/// Lines of an input, each with its number; one may be looked at before it is taken.
pub(super) struct Lookahead<'a> {
    lines: &'a mut Lines,
    next: Option<(u64, Vec<u8>)>,
}

impl<'a> Lookahead<'a> {
    /// Reads on from where `lines` stands.
    pub(super) fn new(lines: &'a mut Lines) -> Lookahead<'a> {
        Lookahead { lines, next: None }
    }

    /// The next line, which stays.
    pub(super) fn peek(&mut self) -> Option<&[u8]> {
        if self.next.is_none() {
            let line = self.lines.next()?.to_vec();
            self.next = Some((self.lines.number(), line));
        }
        self.next.as_ref().map(|(_, line)| line.as_slice())
    }

    /// Takes the next line and its number.
    pub(super) fn next(&mut self) -> Option<(u64, Vec<u8>)> {
        self.peek()?;
        self.next.take()
    }

    /// Takes the next line if it is as wanted.
    pub(super) fn next_if(&mut self, wanted: impl FnOnce(&[u8]) -> bool) -> Option<(u64, Vec<u8>)> {
        if wanted(self.peek()?) { self.next() } else { None }
    }
}

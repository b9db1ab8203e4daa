//! Brackets of a statement, and which of them are lists that a fingerprint shortens: `in (1, 2)`, `values (1, 2), (3, 4)`.

/// What an open bracket belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bracket {
    /// Any other: function arguments, subselects, column lists.
    Plain,
    /// After `in`.
    In,
    /// After `values`.
    Values,
    /// Inside a list: one row of several values.
    Row,
}

/// One open bracket.
#[derive(Clone, Copy, Debug)]
struct Open {
    bracket: Bracket,
    /// Length of the output before the bracket and the blank that may precede it.
    start: usize,
    /// Only literals, commas and such rows so far.
    literal: bool,
    /// It holds rows.
    rows: bool,
}

/// The open brackets of the statement so far.
#[derive(Default)]
pub(super) struct Lists {
    open: Vec<Open>,
}

impl Lists {
    /// Forgets all brackets.
    pub(super) fn clear(&mut self) {
        self.open.clear();
    }

    /// Whether a bracket is open.
    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// A bracket opens; `start` is the length of the output before it.
    pub(super) fn open(&mut self, bracket: Bracket, start: usize) {
        let inside_list = self.open.last().is_some_and(|outer| outer.bracket != Bracket::Plain);
        let bracket = if bracket == Bracket::Row && !inside_list { Bracket::Plain } else { bracket };
        self.open.push(Open { bracket, start, literal: true, rows: false });
    }

    /// Something that is neither literal nor comma stands in the innermost bracket.
    pub(super) fn not_literal(&mut self) {
        if let Some(innermost) = self.open.last_mut() {
            innermost.literal = false;
        }
    }

    /// The innermost bracket closes: what it was, and whether `out` was shortened (the closing bracket is written then).
    pub(super) fn close(&mut self, out: &mut Vec<u8>) -> (Bracket, bool) {
        let Some(closed) = self.open.pop() else { return (Bracket::Plain, false) };
        let short = closed.bracket != Bracket::Plain && closed.literal;
        if let Some(outer) = self.open.last_mut() {
            outer.literal &= short;
            outer.rows |= short;
        }
        if short {
            closed.shorten(out);
        }
        (closed.bracket, short)
    }

    /// The text ends inside brackets: an unfinished list is shortened like a whole one, or its length would show.
    pub(super) fn cut(&mut self, out: &mut Vec<u8>) {
        let lists = self.open.iter().rposition(|open| !open.literal || open.bracket == Bracket::Plain);
        if let Some(outermost) = self.open.get(lists.map_or(0, |at| at + 1)) {
            outermost.shorten(out);
        }
    }
}

impl Open {
    fn shorten(&self, out: &mut Vec<u8>) {
        out.truncate(self.start);
        out.extend_from_slice(if self.rows && self.bracket == Bracket::In { b"((?+))" } else { b"(?+)" });
    }
}

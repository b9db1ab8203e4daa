//! Values of a record's line, parted at tabs: texts that `%S` printed, and numbers.
//!
//! What nearly all values need is inlined, so that they stay in registers: written to memory and read back at once, in other pieces, a value
//! costs more than its search.

use std::borrow::Cow;

use crate::format::{eight, escape, number};

/// The values of a line that are still to be read.
pub(super) struct Values<'a> {
    /// What is left of the line; `None` behind the last value.
    rest: Option<&'a [u8]>,
    /// The whole line as text, if it is one: then no value needs to be checked by itself.
    text: Option<&'a str>,
}

/// A text as it was printed.
#[derive(Clone, Copy)]
pub(super) enum Printed<'a> {
    /// The text itself: nothing in it was escaped.
    Plain(&'a str),
    /// With escapes, or not UTF-8. Nothing means unknown; an empty text has at least its end.
    Raw(&'a [u8]),
}

impl<'a> Values<'a> {
    /// The values of a line behind its kind; `None` if nothing stands there.
    pub(super) fn new(values: Option<&'a [u8]>) -> Values<'a> {
        Values { rest: values, text: values.and_then(|values| simdutf8::basic::from_utf8(values).ok()) }
    }

    /// Whether all have been read.
    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_none()
    }

    /// The next value as a text.
    #[inline(always)]
    pub(super) fn text(&mut self) -> Option<Printed<'a>> {
        let rest = self.rest?;
        // Most texts hold no escape but that of their end: one look finds what ends them.
        let end = eight::find(*b"\t\\", rest).unwrap_or(rest.len());
        let (behind, is_known) = match rest.get(end..)? {
            [b'\\', b'0', b'\t', behind @ ..] => (Some(behind), true),
            [b'\t', behind @ ..] => (Some(behind), end > 0),
            [b'\\', b'0'] => (None, true),
            [] => (None, end > 0),
            _ => return self.raw(end),
        };
        match self.text {
            Some(text) if is_known => {
                let at = text.len().saturating_sub(rest.len());
                self.rest = behind;
                text.get(at..at.saturating_add(end)).map(Printed::Plain)
            }
            _ => self.raw(end),
        }
    }

    /// The next value as it was printed; no tab is before `from`.
    #[inline(never)]
    fn raw(&mut self, from: usize) -> Option<Printed<'a>> {
        self.next(from).map(Printed::Raw)
    }

    /// The next value, if it is what most numbers are: digits, and a tab behind them. Otherwise it is still to be read.
    #[inline(always)]
    pub(super) fn digits(&mut self) -> Option<u64> {
        let (number, behind) = number::before_tab(self.rest?)?;
        self.rest = Some(behind);
        Some(number)
    }

    /// The next value as a number: `None` if it is none or there is no value, `Some(None)` if it is empty, which means unknown.
    pub(super) fn number(&mut self) -> Option<Option<i128>> {
        match self.next(0)? {
            [] => Some(None),
            digits => number::parse(digits).map(Some),
        }
    }

    fn next(&mut self, from: usize) -> Option<&'a [u8]> {
        let rest = self.rest?;
        let end = memchr::memchr(b'\t', rest.get(from..)?).map_or(rest.len(), |at| at.saturating_add(from));
        self.rest = rest.get(end.saturating_add(1)..);
        rest.get(..end)
    }
}

impl<'a> Printed<'a> {
    /// The text, `None` if it is unknown, and whether it was cut.
    #[inline(always)]
    pub(super) fn decode(self, strsize: Option<u64>) -> (Option<Cow<'a, str>>, bool) {
        match self {
            Printed::Plain(text) => (Some(Cow::Borrowed(text)), is_full(text.as_bytes(), strsize)),
            Printed::Raw([]) => (None, false),
            Printed::Raw(bytes) => {
                let (text, is_cut) = undo(bytes, strsize);
                (Some(text), is_cut)
            }
        }
    }

    /// The same of a query's text, which is never unknown, in memory that is used again for the next. `length` is that of the whole text,
    /// if it is known.
    #[inline]
    pub(super) fn decode_in(
        self,
        memory: &'a mut Vec<u8>,
        strsize: Option<u64>,
        length: Option<u64>,
    ) -> (Cow<'a, str>, bool) {
        let is_cut =
            |bytes: &[u8]| is_full(bytes, strsize) || length.is_some_and(|length| (bytes.len() as u64) < length);
        let bytes = match self {
            Printed::Plain(text) => return (Cow::Borrowed(text), is_cut(text.as_bytes())),
            Printed::Raw(bytes) => escape::undo_in(bytes, memory),
        };
        let is_cut = is_cut(bytes);
        (to_text(bytes, is_cut), is_cut)
    }
}

#[cold]
fn undo(bytes: &[u8], strsize: Option<u64>) -> (Cow<'_, str>, bool) {
    let bytes = escape::undo(bytes);
    let is_cut = is_full(&bytes, strsize);
    let text = match bytes {
        Cow::Borrowed(bytes) => to_text(bytes, is_cut),
        Cow::Owned(bytes) => Cow::Owned(to_text(&bytes, is_cut).into_owned()),
    };
    (text, is_cut)
}

/// Whether a text fills DTrace's buffer: then it was cut, or just fitted, which looks the same.
pub(super) fn is_full(text: &[u8], strsize: Option<u64>) -> bool {
    strsize.is_some_and(|size| size > 1 && text.len() as u64 >= size.saturating_sub(1))
}

/// Bytes as text. A cut text may end in the middle of a character: that part goes.
fn to_text(bytes: &[u8], is_cut: bool) -> Cow<'_, str> {
    escape::lossy(if is_cut { without_part(bytes) } else { bytes })
}

/// `bytes` without an unfinished character at their end.
fn without_part(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => bytes.get(..error.valid_up_to()).unwrap_or(bytes),
        _ => bytes,
    }
}

//! Values of a record's line, parted at tabs: texts that `%S` printed, and numbers.

use std::borrow::Cow;

use crate::format::{eight, escape, number};

/// The values of a line that are still to be read.
pub(super) struct Values<'a> {
    line: &'a [u8],
    /// The same as text, if the whole line is one: then no value needs to be checked by itself.
    text: Option<&'a str>,
    /// Where the next value begins; `None` behind the last.
    at: Option<usize>,
}

/// A text as it was printed.
#[derive(Clone, Copy, Default)]
pub(super) struct Printed<'a> {
    bytes: &'a [u8],
    /// The text itself, if nothing in it is escaped.
    plain: Option<&'a str>,
}

impl<'a> Values<'a> {
    /// The values of a line behind its kind; `None` if nothing stands there.
    pub(super) fn new(values: Option<&'a [u8]>) -> Values<'a> {
        let line = values.unwrap_or(&[]);
        Values { line, text: std::str::from_utf8(line).ok(), at: values.map(|_| 0) }
    }

    /// Whether all have been read.
    pub(super) fn is_empty(&self) -> bool {
        self.at.is_none()
    }

    /// The next value as a text.
    pub(super) fn text(&mut self) -> Option<Printed<'a>> {
        let (at, rest) = self.rest()?;
        // Most texts hold no escape but that of their end: one look finds what ends them.
        let stop = eight::find([b'\t', b'\\'], rest).unwrap_or(rest.len());
        let end = match rest.get(stop..)? {
            [] | [b'\t', ..] => stop,
            [b'\\', b'0'] | [b'\\', b'0', b'\t', ..] => stop.saturating_add(2),
            _ => return self.next().map(|bytes| Printed { bytes, plain: None }),
        };
        self.pass(at, rest, end);
        let plain = self.text.and_then(|text| text.get(at..at.saturating_add(stop)));
        Some(Printed { bytes: rest.get(..end)?, plain })
    }

    /// The next value as a number: `None` if it is none or there is no value, `Some(None)` if it is empty, which means unknown.
    pub(super) fn number(&mut self) -> Option<Option<i128>> {
        let (at, rest) = self.rest()?;
        if let Some((value, end)) = number::leading(rest)
            && rest.get(end) == Some(&b'\t')
        {
            self.pass(at, rest, end);
            return Some(Some(i128::from(value)));
        }
        match self.next()? {
            [] => Some(None),
            digits => number::parse(digits).map(Some),
        }
    }

    fn next(&mut self) -> Option<&'a [u8]> {
        let (at, rest) = self.rest()?;
        let end = memchr::memchr(b'\t', rest).unwrap_or(rest.len());
        self.pass(at, rest, end);
        rest.get(..end)
    }

    fn rest(&self) -> Option<(usize, &'a [u8])> {
        let at = self.at?;
        Some((at, self.line.get(at..)?))
    }

    /// Goes behind the value at the start of `rest`, which ends at `end`.
    fn pass(&mut self, at: usize, rest: &[u8], end: usize) {
        self.at = (end < rest.len()).then(|| at.saturating_add(end).saturating_add(1));
    }
}

impl<'a> Printed<'a> {
    /// The text, and whether it was cut. A value of nothing means unknown; an empty text has at least its end.
    pub(super) fn decode(self, strsize: Option<u64>) -> (Option<Cow<'a, str>>, bool) {
        if self.bytes.is_empty() {
            return (None, false);
        }
        if let Some(text) = self.plain {
            return (Some(Cow::Borrowed(text)), is_full(text.as_bytes(), strsize));
        }
        let bytes = escape::undo(self.bytes);
        let is_cut = is_full(&bytes, strsize);
        let text = match bytes {
            Cow::Borrowed(bytes) => to_text(bytes, is_cut),
            Cow::Owned(bytes) => Cow::Owned(to_text(&bytes, is_cut).into_owned()),
        };
        (Some(text), is_cut)
    }

    /// The same of a query's text, which is never unknown, in memory that is used again for the next. `length` is that of the whole text,
    /// if it is known.
    pub(super) fn decode_in(
        self,
        memory: &'a mut Vec<u8>,
        strsize: Option<u64>,
        length: Option<u64>,
    ) -> (Cow<'a, str>, bool) {
        let is_cut =
            |bytes: &[u8]| is_full(bytes, strsize) || length.is_some_and(|length| (bytes.len() as u64) < length);
        if let Some(text) = self.plain {
            return (Cow::Borrowed(text), is_cut(text.as_bytes()));
        }
        let bytes = escape::undo_in(self.bytes, memory);
        let is_cut = is_cut(bytes);
        (to_text(bytes, is_cut), is_cut)
    }
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

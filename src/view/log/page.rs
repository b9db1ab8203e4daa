//! Lines on their way to the output: put together in one place, and written many at once.

use std::io::{self, Write};

use crate::view::digits;
use crate::view::text;

/// How much is written at once: a file takes it in fewer, larger pieces, and it still fits into the processor's cache.
const FULL: usize = 256 << 10;
/// Columns of milliseconds.
pub(super) const MILLISECONDS: usize = 9;

/// Lines that are still to be written, and where they go.
pub(super) struct Page<W: Write> {
    out: W,
    bytes: Vec<u8>,
    /// Where the last line begins.
    line: usize,
    /// What is not made in place; kept for its memory.
    made: String,
}

impl<W: Write> Page<W> {
    /// An empty page.
    pub(super) fn new(out: W) -> Page<W> {
        Page { out, bytes: Vec::new(), line: 0, made: String::new() }
    }

    /// The output itself, after everything that stands on the page.
    pub(super) fn out(&mut self) -> io::Result<&mut W> {
        self.write()?;
        Ok(&mut self.out)
    }

    /// Appends to the line.
    pub(super) fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
    }

    /// Appends a column of texts that are shown as they are, a column a byte, and a blank.
    pub(super) fn push_plain<const PARTS: usize>(&mut self, parts: [&str; PARTS], wide: usize) {
        // A piece of fixed length is cheaper to append than a short one of any length.
        const BLANKS: [u8; 16] = [b' '; 16];
        let end = self.bytes.len() + wide;
        for part in parts {
            if !part.is_empty() {
                self.bytes.extend_from_slice(part.as_bytes());
            }
        }
        let end = end.max(self.bytes.len()) + 1;
        while self.bytes.len() < end {
            self.bytes.extend_from_slice(&BLANKS);
        }
        self.bytes.truncate(end);
    }

    /// Appends a number on the right of `WIDE` columns, eight at the most, and a blank.
    pub(super) fn push_number<const WIDE: usize>(&mut self, number: Option<impl TryInto<u64> + Into<i128> + Copy>) {
        let digits = number.and_then(|number| digits::right::<WIDE>(number.try_into().ok()?));
        match (digits, number) {
            (Some(digits), _) => self.bytes.extend_from_slice(&digits),
            (None, Some(number)) => self.push_with(|out| text::push_number(out, number.into(), WIDE)),
            (None, None) => self.push_with(|out| text::push_right(out, "-", WIDE)),
        }
        self.bytes.push(b' ');
    }

    /// Appends milliseconds with three decimals on the right of [`MILLISECONDS`] columns, and a blank.
    pub(super) fn push_milliseconds(&mut self, nanoseconds: Option<u64>) {
        let micro = nanoseconds.map(|nanoseconds| nanoseconds.saturating_add(500) / 1_000);
        match (micro.and_then(digits::thousandths), nanoseconds) {
            (Some(digits), _) => self.bytes.extend_from_slice(&digits),
            (None, Some(nanoseconds)) => self.push_with(|out| {
                text::push_right(out, &text::milliseconds(i128::from(nanoseconds)), MILLISECONDS);
            }),
            (None, None) => self.push_with(|out| text::push_right(out, "-", MILLISECONDS)),
        }
        self.bytes.push(b' ');
    }

    /// Appends what needs a string to be made in.
    fn push_with(&mut self, make: impl FnOnce(&mut String)) {
        self.made.clear();
        make(&mut self.made);
        self.bytes.extend_from_slice(self.made.as_bytes());
    }

    /// How long the line is.
    pub(super) fn length(&self) -> usize {
        self.bytes.len() - self.line
    }

    /// The line so far.
    pub(super) fn line(&self) -> &[u8] {
        self.bytes.get(self.line..).unwrap_or(&[])
    }

    /// Takes back what was appended since the line had that length.
    pub(super) fn shorten(&mut self, length: usize) {
        self.bytes.truncate(self.line + length);
    }

    /// Ends the line, without blanks at its end; writes the page if it is full.
    pub(super) fn end_line(&mut self) -> io::Result<()> {
        let used = self.line().trim_ascii_end().len();
        self.shorten(used);
        self.bytes.push(b'\n');
        self.line = self.bytes.len();
        if self.line < FULL { Ok(()) } else { self.write() }
    }

    fn write(&mut self) -> io::Result<()> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        let written = self.out.write_all(&self.bytes);
        // Also what could not be written is gone, so that nobody tries again.
        self.bytes.clear();
        self.line = 0;
        written
    }
}

impl<W: Write> Drop for Page<W> {
    /// An input that cannot be read on ends the log early: what was read before is shown.
    fn drop(&mut self) {
        _ = self.write();
    }
}

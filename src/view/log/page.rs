//! Lines on their way to the output: put together in one place, and written many at once.

use std::io::{self, Write};

use crate::view::digits;
use crate::view::text;

/// How much is written at once.
const FULL: usize = 128 << 10;

/// Lines that are still to be written, and where they go.
pub(super) struct Page<W: Write> {
    out: W,
    bytes: Vec<u8>,
    /// Where the last line begins.
    line: usize,
    /// A number that does not fit its column, in the making.
    number: String,
}

impl<W: Write> Page<W> {
    /// An empty page.
    pub(super) fn new(out: W) -> Page<W> {
        Page { out, bytes: Vec::new(), line: 0, number: String::new() }
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

    /// Appends blanks.
    pub(super) fn push_blanks(&mut self, count: usize) {
        // A piece of fixed length is cheaper to append than a short one of any length.
        const BLANKS: [u8; 16] = [b' '; 16];
        let length = self.bytes.len() + count;
        while self.bytes.len() < length {
            self.bytes.extend_from_slice(&BLANKS);
        }
        self.bytes.truncate(length);
    }

    /// Appends a number on the right of `WIDE` columns, eight at the most, and a blank.
    pub(super) fn push_number<const WIDE: usize>(&mut self, number: Option<i128>) {
        match number.and_then(|number| digits::right(u64::try_from(number).ok()?)) {
            Some(digits) if digits.get(..8 - WIDE).is_some_and(|before| before.iter().all(|&byte| byte == b' ')) => {
                if let Some(digits) = digits.last_chunk::<WIDE>() {
                    self.bytes.extend_from_slice(digits);
                }
            }
            _ => {
                self.number.clear();
                match number {
                    Some(number) => text::push_number(&mut self.number, number, WIDE),
                    None => text::push_right(&mut self.number, "-", WIDE),
                }
                self.bytes.extend_from_slice(self.number.as_bytes());
            }
        }
        self.bytes.push(b' ');
    }

    /// Appends milliseconds with three decimals on the right of `wide` columns, nine at the least, and a blank.
    pub(super) fn push_milliseconds(&mut self, nanoseconds: Option<u64>, wide: usize) {
        let rounded = nanoseconds.map(|nanoseconds| nanoseconds.saturating_add(500) / 1_000);
        if let Some([a, b, c, d, e, x, y, z]) = rounded.and_then(|micro| digits::right_after(micro, 4)) {
            self.push_blanks(wide.saturating_sub(9));
            self.bytes.extend_from_slice(&[a, b, c, d, e, b'.', x, y, z, b' ']);
            return;
        }
        self.number.clear();
        match nanoseconds {
            Some(nanoseconds) => {
                let mut number = String::new();
                text::push_milliseconds(&mut number, i128::from(nanoseconds));
                text::push_right(&mut self.number, &number, wide);
            }
            None => text::push_right(&mut self.number, "-", wide),
        }
        self.bytes.extend_from_slice(self.number.as_bytes());
        self.bytes.push(b' ');
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

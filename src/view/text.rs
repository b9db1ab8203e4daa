//! Text for people: what may come from a hostile input is made harmless, numbers get units, times a zone.

use std::borrow::Cow;
use std::fmt::Write;

use jiff::Timestamp;
use jiff::tz::Offset;

pub(super) use super::numbers::{push_rounded, thousands};
use crate::units::Unit;

/// Whether a terminal could take the character for a command, or it could turn the order of a line.
pub(super) fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
        || matches!(c, '\u{e0000}'..='\u{e0fff}')
}

/// A byte that goes out as it is: printable ASCII.
fn is_plain_byte(byte: &u8) -> bool {
    byte.wrapping_sub(0x20) < 0x5f
}

/// Whether all of a text is printable ASCII, which needs no escape and takes a column a byte.
pub(super) fn is_plain(text: &[u8]) -> bool {
    // Whole blocks without a branch in them, so that the compiler can look at all bytes of one at once. The last block may overlap
    // the one before it: that is cheaper than a loop over what is left.
    let all_plain = |block: &[u8]| block.iter().fold(true, |all, byte| all & is_plain_byte(byte));
    match (text.last_chunk::<32>(), text.last_chunk::<8>()) {
        (Some(last), _) => text.as_chunks::<32>().0.iter().all(|block| all_plain(block)) && all_plain(last),
        (None, Some(last)) => text.as_chunks::<8>().0.iter().all(|block| all_plain(block)) && all_plain(last),
        (None, None) => all_plain(text),
    }
}

/// How many bytes from the start are printable ASCII.
fn plain_length(text: &[u8]) -> usize {
    let mut length = text.as_chunks::<32>().0.iter().take_while(|block| is_plain(&block[..])).count() * 32;
    let (words, tail) = text.get(length..).unwrap_or(&[]).as_chunks::<8>();
    for word in words {
        // The highest bit of every byte that is below a blank, above `~`, or not ASCII.
        let word = u64::from_le_bytes(*word);
        let low = word & repeat(0x7f);
        let others = (word | (low + repeat(0x01)) | !(low + repeat(0x60))) & repeat(0x80);
        if others != 0 {
            return length + (others.trailing_zeros() / 8) as usize;
        }
        length += 8;
    }
    length + tail.iter().take_while(|byte| is_plain_byte(byte)).count()
}

/// A word of the same byte.
const fn repeat(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// Appends text on one line: line breaks with the blanks around them become one blank, other control characters are
/// written as `\x1b` or `\u{202e}`.
pub(super) fn push_line(out: &mut String, text: &str) {
    let from = out.len();
    let mut after_break = false;
    let mut rest = text;
    loop {
        let (plain, tail) = rest.split_at_checked(plain_length(rest.as_bytes())).unwrap_or((rest, ""));
        let plain = if after_break { plain.trim_start_matches(' ') } else { plain };
        if !plain.is_empty() {
            if std::mem::take(&mut after_break) && out.len() > from {
                out.push(' ');
            }
            out.push_str(plain);
        }
        let mut others = tail.chars();
        match others.next() {
            None => return,
            Some('\n' | '\r' | '\t' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}') => {
                while out.len() > from && out.ends_with(' ') {
                    out.pop();
                }
                after_break = true;
            }
            Some(c) => {
                if std::mem::take(&mut after_break) && out.len() > from {
                    out.push(' ');
                }
                push_safe(out, c);
            }
        }
        rest = others.as_str();
    }
}

/// Text on one line; see [`push_line`].
pub(super) fn line(text: &str) -> Cow<'_, str> {
    if plain_length(text.as_bytes()) == text.len() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    push_line(&mut out, text);
    Cow::Owned(out)
}

/// Text for standard error: its lines stay, what could command a terminal is written as `\x1b` or `\u{202e}`. Notes and errors quote
/// inputs and name files.
pub fn harmless(text: &str) -> Cow<'_, str> {
    let acts = |c: char| is_unsafe(c) && c != '\n' && c != '\t';
    if !text.chars().any(acts) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|c| if acts(c) { push_safe(&mut out, c) } else { out.push(c) });
    Cow::Owned(out)
}

fn push_safe(out: &mut String, c: char) {
    match c as u32 {
        code if code < 0x100 && is_unsafe(c) => _ = write!(out, "\\x{code:02x}"),
        code if is_unsafe(c) => _ = write!(out, "\\u{{{code:x}}}"),
        _ => out.push(c),
    }
}

/// The start of a text, at most so many bytes.
pub(super) fn start(text: &str, mut bytes: usize) -> &str {
    bytes = bytes.min(text.len());
    while !text.is_char_boundary(bytes) {
        bytes -= 1;
    }
    text.get(..bytes).unwrap_or(text)
}

/// Columns that a character takes on a terminal: 0, 1 or 2.
fn columns(c: char) -> usize {
    if c.is_ascii() { 1 } else { unicode_width::UnicodeWidthChar::width(c).unwrap_or(0) }
}

/// Columns that a text takes.
pub(super) fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().map(columns).sum() }
}

/// Cuts what was appended since byte `from` to `limit` columns, the last of them `…`.
pub(super) fn cut(out: &mut String, from: usize, limit: usize) {
    let Some(text) = out.get(from..) else { return };
    if text.len() <= limit || width(text) <= limit {
        return;
    }
    let mut used = 0;
    let fits = text.char_indices().find(|&(_, c)| {
        used += columns(c);
        used >= limit
    });
    let at = fits.map_or(text.len(), |(at, _)| at);
    out.truncate(from + at);
    out.push('…');
}

/// Cuts the start of a text so that `limit` columns are left, the first of them `…`.
pub(super) fn cut_start(text: &mut String, limit: usize) {
    if width(text) <= limit {
        return;
    }
    let mut used = 1;
    let fits = text.char_indices().rev().take_while(|&(_, c)| {
        used += columns(c);
        used <= limit
    });
    let at = fits.last().map_or(text.len(), |(at, _)| at);
    text.replace_range(..at, "…");
}

/// Pads what was appended since byte `from` to `wide` columns, after cutting it to `limit`; one blank follows.
pub(super) fn fit(out: &mut String, from: usize, wide: usize, limit: usize) {
    fit_exactly(out, from, wide, limit);
    out.push(' ');
}

/// Likewise, without the blank.
pub(super) fn fit_exactly(out: &mut String, from: usize, wide: usize, limit: usize) {
    if limit != usize::MAX {
        cut(out, from, wide);
    }
    let used = out.get(from..).map_or(0, width);
    push_blanks(out, wide.saturating_sub(used));
}

/// Appends the milliseconds of a part of a second: `.790`.
pub(super) fn push_milli(out: &mut String, nanosecond: u32) {
    push_thousandths(out, nanosecond / 1_000_000);
}

/// Appends a number in `wide` columns, on their right.
pub(super) fn push_number(out: &mut String, number: i128, wide: usize) {
    // 39 digits and a sign.
    let mut digits = [b' '; 40];
    let mut start = digits.len();
    let mut put = |digit: u8| {
        start -= 1;
        if let Some(place) = digits.get_mut(start) {
            *place = b'0' + digit;
        }
    };
    let mut large = number.unsigned_abs();
    while large > u128::from(u64::MAX) {
        put((large % 10) as u8);
        large /= 10;
    }
    // Division of 64 bits is several times faster, and enough for nearly all numbers.
    let mut rest = large as u64;
    loop {
        put((rest % 10) as u8);
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    let text = std::str::from_utf8(digits.get(start..).unwrap_or(&[])).unwrap_or("");
    push_blanks(out, wide.saturating_sub(text.len() + usize::from(number < 0)));
    if number < 0 {
        out.push('-');
    }
    out.push_str(text);
}

/// Appends text padded to `width` columns, its digits on the right.
pub(super) fn push_right(out: &mut String, text: &str, wide: usize) {
    push_blanks(out, wide.saturating_sub(text.len()));
    out.push_str(text);
}

fn push_blanks(out: &mut String, mut count: usize) {
    const BLANKS: &str = "                                ";
    while count > 0 {
        let some = BLANKS.get(..count).unwrap_or(BLANKS);
        out.push_str(some);
        count -= some.len();
    }
}

/// Writes rows of numbers, and a text last; lines end at `limit` columns.
pub(super) fn write_columns(
    out: &mut dyn std::io::Write,
    rows: impl Iterator<Item = Vec<String>>,
    limit: usize,
) -> crate::error::Result<()> {
    let rows: Vec<Vec<String>> = rows.collect();
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| width(cell)).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(widest).collect();
    let mut line = String::new();
    for row in &rows {
        line.clear();
        for (at, (cell, &wide)) in row.iter().zip(&widths).enumerate() {
            line.push_str(if at > 0 { "  " } else { "" });
            if at + 1 == count { line.push_str(cell) } else { push_right(&mut line, cell, wide) }
        }
        cut(&mut line, 0, limit);
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// An amount with its unit: `48.231 ms`, `1,204 samples`, `17 bytes`; a bare number if the unit is not known, or if it is no time.
pub(super) fn amount(value: i128, unit: &Unit) -> String {
    let Some(scale) = unit.picoseconds() else {
        return match unit {
            Unit::Unknown => thousands(value),
            unit => format!("{} {}", thousands(value), line(&unit.to_string())),
        };
    };
    let Some(picoseconds) = value.checked_mul(scale) else { return format!("{} {unit}", thousands(value)) };
    let size = picoseconds.unsigned_abs();
    let (divisor, word) = match size {
        0..1_000 => (1, "ps"),
        1_000..1_000_000 => (1_000, "ns"),
        1_000_000..1_000_000_000 => (1_000_000, "us"),
        1_000_000_000..1_000_000_000_000 => (1_000_000_000, "ms"),
        _ => (1_000_000_000_000, "s"),
    };
    if size == 0 {
        return "0".into();
    }
    if divisor <= scale.unsigned_abs() {
        return format!("{} {unit}", thousands(value));
    }
    format!("{} {word}", fraction(picoseconds, divisor))
}

/// Milliseconds with three decimals, rounded half away from zero.
pub(super) fn milliseconds(nanoseconds: i128) -> String {
    let mut out = String::new();
    push_milliseconds(&mut out, nanoseconds);
    out
}

/// Appends [`milliseconds`].
pub(super) fn push_milliseconds(out: &mut String, nanoseconds: i128) {
    let micro = nanoseconds.unsigned_abs().saturating_add(500) / 1_000;
    if nanoseconds < 0 && micro > 0 {
        out.push('-');
    }
    let (milli, rest) = match u64::try_from(micro) {
        Ok(micro) => (u128::from(micro / 1_000), (micro % 1_000) as u32),
        Err(_) => (micro / 1_000, (micro % 1_000) as u32),
    };
    push_number(out, i128::try_from(milli).unwrap_or(i128::MAX), 0);
    push_thousandths(out, rest);
}

/// Appends `.042` for 42.
fn push_thousandths(out: &mut String, number: u32) {
    out.push('.');
    for divisor in [100, 10, 1] {
        out.push(char::from(b'0' + (number / divisor % 10) as u8));
    }
}

fn fraction(value: i128, divisor: u128) -> String {
    let thousandths = (value.unsigned_abs().saturating_mul(1_000).saturating_add(divisor / 2)) / divisor;
    let whole = i128::try_from(thousandths / 1_000).unwrap_or(i128::MAX);
    let sign = if value < 0 { "-" } else { "" };
    format!("{sign}{}.{:03}", thousands(whole), thousandths % 1_000)
}

/// A share in percent, `12.50`; 0 of nothing is 0.
pub(super) fn percent(part: i128, whole: i128) -> String {
    let mut out = String::new();
    push_rounded::<2>(&mut out, if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 });
    out
}

/// Wall-clock times in one zone. Keeps the last second and day, since log lines come by time.
pub(super) struct Clock {
    offset: Offset,
    zone: String,
    second: Option<i64>,
    /// Days since 1970 in the zone.
    day: Option<i64>,
    date: String,
    time: [u8; 8],
}

impl Clock {
    /// A clock of the zone `seconds` east of UTC.
    pub(super) fn new(seconds: i32) -> Clock {
        let offset = Offset::from_seconds(seconds).unwrap_or(Offset::UTC);
        let zone = match offset.seconds() {
            0 => "UTC".into(),
            seconds => {
                let (sign, size) = (if seconds < 0 { '-' } else { '+' }, seconds.unsigned_abs());
                format!("UTC{sign}{:02}:{:02}", size / 3600, size / 60 % 60)
            }
        };
        Clock { offset, zone, second: None, day: None, date: String::new(), time: *b"00:00:00" }
    }

    /// Date (`2026-11-30`), time (`14:13:11`) and nanoseconds in the second of that instant.
    pub(super) fn read(&mut self, nanoseconds: i64) -> (&str, &str, u32) {
        let nanosecond = self.set(nanoseconds);
        (&self.date, std::str::from_utf8(&self.time).unwrap_or(""), nanosecond)
    }

    /// Sets the clock to that instant; gives the nanoseconds in its second.
    pub(super) fn set(&mut self, nanoseconds: i64) -> u32 {
        let second = nanoseconds.div_euclid(1_000_000_000);
        if self.second != Some(second) {
            self.second = Some(second);
            let local = second + i64::from(self.offset.seconds());
            let day = local.div_euclid(86_400);
            if self.day != Some(day) {
                self.day = Some(day);
                let stamp = Timestamp::from_second(second).unwrap_or(Timestamp::UNIX_EPOCH);
                self.date = self.offset.to_datetime(stamp).date().to_string();
            }
            let second = local.rem_euclid(86_400);
            let digits = |number: i64| [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
            let [[a, b], [c, d], [e, f]] = [second / 3_600, second / 60 % 60, second % 60].map(digits);
            self.time = [a, b, b':', c, d, b':', e, f];
        }
        nanoseconds.rem_euclid(1_000_000_000) as u32
    }

    /// The day to which it is set, counted from 1970 in its zone; `None` if it was not set.
    pub(super) fn day(&self) -> Option<i64> {
        self.day
    }

    /// The date to which it is set.
    pub(super) fn date(&self) -> &str {
        &self.date
    }

    /// The time to which it is set.
    pub(super) fn time(&self) -> &[u8; 8] {
        &self.time
    }

    /// The zone's name: `UTC`, `UTC+01:00`.
    pub(super) fn zone(&self) -> &str {
        &self.zone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_printable_ascii_at_every_length() {
        for length in 0..100 {
            let mut text = vec![b'~'; length];
            assert!(is_plain(&text) && plain_length(&text) == length);
            for at in 0..length {
                for byte in [0, b'\n', 0x1f, 0x7f, 0x80, 0xc2, 0xff] {
                    text[at] = byte;
                    assert!(!is_plain(&text), "{byte:#x} at {at} of {length}");
                    assert_eq!(plain_length(&text), at);
                }
                text[at] = b' ';
            }
        }
    }

    #[test]
    fn the_clock_is_that_of_the_calendar() {
        let hours = |hours: i64| hours * 3_600_000_000_000;
        // `date -u -d @SECOND` and `TZ=UTC-1 date -d @SECOND` (GNU).
        let cases = [
            (0, 0, "1970-01-01", "00:00:00", 0),
            (0, -1, "1969-12-31", "23:59:59", 999_999_999),
            (0, i64::MAX, "2262-04-11", "23:47:16", 854_775_807),
            (0, i64::MIN, "1677-09-21", "00:12:43", 145_224_192),
            (3_600, hours(-1), "1970-01-01", "00:00:00", 0),
            (3_600, 1_796_035_991_790_984_277, "2026-11-30", "11:53:11", 790_984_277),
            (-34_200, 1_709_208_000_000_000_000, "2024-02-29", "02:30:00", 0),
        ];
        for (zone, instant, date, time, nanosecond) in cases {
            assert_eq!(Clock::new(zone).read(instant), (date, time, nanosecond), "{instant}");
        }
        let mut clock = Clock::new(0);
        for (instant, time) in
            [(hours(24), "00:00:00"), (hours(24) - 1, "23:59:59"), (hours(23), "23:00:00"), (hours(47), "23:00:00")]
        {
            assert_eq!(clock.read(instant).1, time);
        }
        assert_eq!(clock.date(), "1970-01-02");
    }
}

//! The parts of header lines: names and values, accounts, times.

use jiff::civil;
use jiff::tz::Offset;

/// A time of a `# Time:` line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Time {
    /// Seconds since 1970; of the server's local clock unless `zoned`.
    pub(super) seconds: i64,
    /// Nanoseconds within that second.
    pub(super) fraction: u32,
    /// The line tells its zone.
    pub(super) zoned: bool,
}

/// Who ran a statement.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Who<'a> {
    pub(super) user: &'a [u8],
    pub(super) host: &'a [u8],
    pub(super) address: &'a [u8],
    pub(super) connection: Option<u64>,
}

/// Calls `take` for each `Name: value` of a line; a value may be empty.
pub(super) fn pairs(line: &[u8], mut take: impl FnMut(&[u8], &[u8])) {
    let mut rest = line.trim_ascii();
    while let Some(colon) = memchr::memchr(b':', rest) {
        let (name, after) = rest.split_at_checked(colon).unwrap_or((rest, &[]));
        let after = after.get(1..).unwrap_or(&[]);
        let value = after.strip_prefix(b" ").unwrap_or(after);
        // A name of a database may hold blanks; it ends before two of them.
        let end = if name == b"Schema" { memchr::memmem::find(value, b"  ") } else { memchr::memchr(b' ', value) };
        let (value, after) = value.split_at_checked(end.unwrap_or(value.len())).unwrap_or((value, &[]));
        if !name.is_empty() && !name.contains(&b' ') {
            take(name, value);
        }
        rest = after.trim_ascii_start();
    }
}

/// Whether a line is nothing but `Name: number` pairs.
pub(super) fn is_pairs_of_numbers(line: &[u8]) -> bool {
    let mut words = line.split(|&byte| byte == b' ').filter(|word| !word.is_empty()).peekable();
    let mut any = false;
    while let Some(name) = words.next() {
        let is_name = name.strip_suffix(b":").is_some_and(|name| {
            name.first().is_some_and(u8::is_ascii_uppercase)
                && name.iter().all(|&byte| byte == b'_' || byte.is_ascii_alphanumeric())
        });
        let is_number =
            words.next().is_some_and(|value| value.iter().all(|&byte| byte == b'.' || byte.is_ascii_digit()));
        if !is_name || !is_number {
            return false;
        }
        any = true;
    }
    any
}

/// Decimal seconds as nanoseconds; digits beyond those are dropped.
pub(super) fn seconds(value: &[u8]) -> Option<u64> {
    let point = memchr::memchr(b'.', value).unwrap_or(value.len());
    let whole = number(value.get(..point)?)?;
    let mut fraction = 0u64;
    let digits = value.get(point + 1..).unwrap_or(&[]);
    for place in 0..9 {
        let digit = digits.get(place).copied().unwrap_or(b'0');
        fraction = fraction * 10 + u64::from(digit.is_ascii_digit().then(|| digit - b'0')?);
    }
    whole.checked_mul(1_000_000_000)?.checked_add(fraction)
}

/// A decimal number.
pub(super) fn number(value: &[u8]) -> Option<u64> {
    if value.is_empty() {
        return None;
    }
    value.iter().try_fold(0u64, |number, &byte| {
        let digit = byte.is_ascii_digit().then(|| byte - b'0')?;
        number.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// `app[app] @ web1 [10.0.0.1]  Id:     9`: the account, then the name that was given, host and address.
pub(super) fn who(line: &[u8]) -> Who<'_> {
    let at = memchr::memmem::find(line, b"] @ ").unwrap_or(line.len());
    let (account, place) = (line.get(..at).unwrap_or(line), line.get(at + 4..).unwrap_or(&[]));
    let bracket = memchr::memchr(b'[', account).unwrap_or(account.len());
    let (name, given) = (account.get(..bracket).unwrap_or(account), account.get(bracket + 1..).unwrap_or(&[]));
    let bracket = memchr::memchr(b'[', place).unwrap_or(place.len());
    let (host, rest) = (place.get(..bracket).unwrap_or(place), place.get(bracket + 1..).unwrap_or(&[]));
    let end = memchr::memchr(b']', rest).unwrap_or(rest.len());
    let (address, rest) = (rest.get(..end).unwrap_or(rest), rest.get(end + 1..).unwrap_or(&[]));
    let connection = rest.trim_ascii().strip_prefix(b"Id:").and_then(|id| number(id.trim_ascii()));
    Who { user: if name.is_empty() { given } else { name }, host: host.trim_ascii(), address, connection }
}

/// The database of a line `use DB;`, in any case, without backticks.
pub(super) fn used_database(line: &[u8]) -> Option<&[u8]> {
    let (word, name) = line.split_at_checked(4)?;
    let name = word.eq_ignore_ascii_case(b"use ").then(|| name.strip_suffix(b";"))??.trim_ascii();
    Some(name.strip_prefix(b"`").and_then(|name| name.strip_suffix(b"`")).unwrap_or(name))
}

/// The seconds of `SET timestamp=N;` or `SET last_insert_id=1,insert_id=2,timestamp=N;`.
pub(super) fn set_timestamp(line: &[u8]) -> Option<i64> {
    let settings = line.strip_prefix(b"SET ")?.strip_suffix(b";")?;
    let mut found = None;
    for setting in settings.split(|&byte| byte == b',') {
        let equals = memchr::memchr(b'=', setting)?;
        let (name, value) = (setting.get(..equals)?, setting.get(equals + 1..)?);
        match name {
            b"timestamp" => {
                found = number(value.split(|&byte| byte == b'.').next()?).and_then(|time| i64::try_from(time).ok())
            }
            b"last_insert_id" | b"insert_id" => {}
            _ => return None,
        }
    }
    found
}

/// The time of `220504  5:01:02` (local, perhaps with a fraction) or `2023-11-14T22:14:00.000000Z`.
pub(super) fn time(text: &[u8]) -> Option<Time> {
    let text = std::str::from_utf8(text).ok()?;
    if text.contains('T') {
        return iso_time(text);
    }
    let mut words = text.split_ascii_whitespace();
    let (date, clock) = (words.next()?, words.next()?);
    let date = number(date.as_bytes()).filter(|_| date.len() == 6)?;
    let year = i16::try_from(date / 10000).ok()?;
    let year = if year < 70 { 2000 + year } else { 1900 + year };
    let day = civil::Date::new(year, i8::try_from(date / 100 % 100).ok()?, i8::try_from(date % 100).ok()?).ok()?;
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let mut parts = clock.split(':').map(|part| part.parse::<i8>().ok());
    let clock = civil::Time::new(parts.next()??, parts.next()??, parts.next()??, 0).ok()?;
    let seconds = Offset::UTC.to_timestamp(day.to_datetime(clock)).ok()?.as_second();
    Some(Time { seconds, fraction: decimals(fraction), zoned: false })
}

fn iso_time(text: &str) -> Option<Time> {
    if let Ok(time) = text.parse::<jiff::Timestamp>() {
        let fraction = u32::try_from(time.subsec_nanosecond()).unwrap_or(0);
        return Some(Time { seconds: time.as_second(), fraction, zoned: true });
    }
    let local = text.parse::<civil::DateTime>().ok()?;
    let seconds = Offset::UTC.to_timestamp(local).ok()?.as_second();
    Some(Time { seconds, fraction: u32::try_from(local.subsec_nanosecond()).unwrap_or(0), zoned: false })
}

/// Decimals of a second as nanoseconds.
fn decimals(digits: &str) -> u32 {
    let digits = digits.bytes().chain(std::iter::repeat(b'0')).take(9);
    digits
        .fold(0, |value, digit| if digit.is_ascii_digit() { value * 10 + u32::from(digit - b'0') } else { value * 10 })
}

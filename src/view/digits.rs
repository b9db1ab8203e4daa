//! Numbers of few digits in columns, without a branch: a log has several in each line.

/// A number on the right of `WIDE` columns, eight at the most, blanks before it; `None` if it is wider.
#[inline]
pub(super) fn right<const WIDE: usize>(number: u64) -> Option<[u8; WIDE]> {
    // A status is 0 nearly always.
    if number < 10 {
        let mut columns = [b' '; WIDE];
        *columns.last_mut()? = b'0' + number as u8;
        return Some(columns);
    }
    let limit = const { 10u64.pow(WIDE as u32) };
    with_blanks(number, limit, 7)?.last_chunk().copied()
}

/// Thousandths of a number on the right of nine columns: `  162.345`; `None` if it is wider.
#[inline]
pub(super) fn thousandths(number: u64) -> Option<[u8; 9]> {
    let [a, b, c, d, e, x, y, z] = with_blanks(number, 100_000_000, 4)?;
    Some([a, b, c, d, e, b'.', x, y, z])
}

/// Eight columns of a number below the limit, with at most so many blanks before it and zeros behind them.
fn with_blanks(number: u64, limit: u64, blanks: u32) -> Option<[u8; 8]> {
    let digits = eight_digits(u32::try_from(number).ok().filter(|_| number < limit)?);
    let leading = (digits.trailing_zeros() / 8).min(blanks);
    // A blank is 16 less than a zero.
    let blank = repeat(b'0' - b' ') & ((1 << (8 * leading)) - 1);
    Some((digits + repeat(b'0') - blank).to_le_bytes())
}

/// Three digits.
#[inline]
pub(super) fn three(number: u32) -> [u8; 3] {
    let [.., a, b, c] = (eight_digits(number % 1_000) + repeat(b'0')).to_le_bytes();
    [a, b, c]
}

/// Values of the eight digits of a number below 100 million, the first in the lowest byte: parts are halved three times, all at once. A
/// division by 100 or 10 is a multiplication and a shift, exact for parts of that size.
fn eight_digits(number: u32) -> u64 {
    let number = u64::from(number);
    let fours = (number / 10_000) | ((number % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let pairs = hundreds | ((fours - hundreds * 100) << 16);
    let tens = ((pairs * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | ((pairs - tens * 10) << 8)
}

/// A word of the same byte.
const fn repeat(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_what_print_gives() {
        // All values of both halves, and the borders of every length.
        let borders = (0..9).map(|length| 10u64.pow(length)).flat_map(|border| [border - 1, border, border + 1]);
        let halves = (0..10_000).flat_map(|half| [half, half * 10_000, half * 10_001]);
        for number in borders.chain(halves) {
            let printed = |wide: usize| {
                let printed = format!("{number:wide$}").into_bytes();
                (printed.len() == wide).then_some(printed)
            };
            assert_eq!(right::<8>(number).map(Vec::from), printed(8), "{number}");
            assert_eq!(right::<5>(number).map(Vec::from), printed(5), "{number}");
            assert_eq!(right::<1>(number).map(Vec::from), printed(1), "{number}");
            let milli = format!("{:5}.{:03}", number / 1_000, number % 1_000).into_bytes();
            let milli = (milli.len() == 9).then_some(milli);
            assert_eq!(thousandths(number).map(Vec::from), milli, "{number}");
        }
        for number in 0..2_000 {
            assert_eq!(three(number).to_vec(), format!("{:03}", number % 1_000).into_bytes());
        }
        for number in [100_000_000, u64::from(u32::MAX) + 1, u64::MAX] {
            assert_eq!((right::<8>(number), thousandths(number)), (None, None));
        }
    }
}

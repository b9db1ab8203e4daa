//! Decimal numbers in bytes, as C prints them.

use super::eight;

/// A whole text of an optional sign and decimal digits; `None` for anything else and for what does not fit.
pub(super) fn parse(text: &[u8]) -> Option<i128> {
    let (digits, negative) = match text {
        [b'-', rest @ ..] => (rest, true),
        [b'+', rest @ ..] => (rest, false),
        all => (all, false),
    };
    if digits.is_empty() {
        return None;
    }
    // 19 digits fit into a u64, which is several times faster; longer ones are rare.
    let value = if digits.len() <= 19 {
        let (mut value, mut all_digits) = (0u64, true);
        for &byte in digits {
            all_digits &= byte.is_ascii_digit();
            value = value.wrapping_mul(10).wrapping_add(u64::from(byte.wrapping_sub(b'0')));
        }
        if !all_digits {
            return None;
        }
        i128::from(value)
    } else {
        let mut value = 0i128;
        for &byte in digits {
            value = value.checked_mul(10)?.checked_add(i128::from(digit(byte)?))?;
        }
        value
    };
    Some(if negative { value.wrapping_neg() } else { value })
}

/// The digits that a text begins with: their number and how many they are. `None` if there is none, if they do not surely fit, or if the
/// text ends so soon behind them that [`parse`] must do.
pub(super) fn leading(text: &[u8]) -> Option<(u64, usize)> {
    /// What the number so far is multiplied by, before so many digits more.
    const SCALES: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
    let (words, _) = text.as_chunks::<8>();
    let (mut value, mut length) = (0u64, 0usize);
    for word in words.iter().take(3) {
        let (digits, count) = eight::digits(u64::from_le_bytes(*word));
        value = value.wrapping_mul(*SCALES.get(count)?).wrapping_add(digits);
        length = length.wrapping_add(count);
        if count < 8 {
            // 19 digits fit into a u64.
            return (1..=19).contains(&length).then_some((value, length));
        }
    }
    None
}

fn digit(byte: u8) -> Option<u8> {
    byte.is_ascii_digit().then(|| byte.wrapping_sub(b'0'))
}

#[cfg(test)]
mod tests {
    use super::{leading, parse};

    #[test]
    fn numbers_of_any_length() {
        assert_eq!(parse(b"0"), Some(0));
        assert_eq!(parse(b"-12"), Some(-12));
        assert_eq!(parse(b"18446744073709551616"), Some(1 << 64));
        assert_eq!(parse(b"999999999999999999"), Some(999_999_999_999_999_999));
        assert_eq!(parse(b"-9999999999999999999"), Some(-9_999_999_999_999_999_999));
        assert_eq!(parse(b"10000000000000000000"), Some(10_000_000_000_000_000_000));
        for bad in [&b""[..], b"-", b"1 ", b"0x1", b"1.5", b"9".repeat(60).as_slice()] {
            assert_eq!(parse(bad), None);
        }
    }

    #[test]
    fn leading_digits_are_what_parse_reads() {
        for length in 1..=30 {
            for digits in
                ["1".repeat(length), "9".repeat(length), "0".repeat(length), "1234567890".repeat(3)[..length].into()]
            {
                for tail in ["\t", "\t12345678", ".5 and more", "\\0\tSELECT 1"] {
                    let text = format!("{digits}{tail}");
                    // The word that holds the last digit and the byte behind it must be there.
                    let whole = (length + 1).next_multiple_of(8) <= text.len();
                    let expected = parse(digits.as_bytes()).filter(|_| whole && length <= 19);
                    assert_eq!(leading(text.as_bytes()).map(|(value, _)| i128::from(value)), expected, "{text}");
                    assert!(leading(text.as_bytes()).is_none_or(|(_, found)| found == length));
                }
            }
        }
        for other in ["", "\t1234567890", "-12345678\t", "+12345678\t", " 1234567\t", "12", "\u{661}2345678\t"] {
            assert_eq!(leading(other.as_bytes()), None, "{other}");
        }
    }
}

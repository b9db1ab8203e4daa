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

/// The number that a text begins with, and what follows behind the tab at its end. `None` if it is not of digits alone, if it surely fits only
/// into more than a u64, or if the text ends so soon behind it that [`parse`] must do.
#[inline]
pub(super) fn before_tab(text: &[u8]) -> Option<(u64, &[u8])> {
    /// By what the number so far is multiplied before so many digits more.
    const SCALES: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
    let (mut value, mut rest) = (0u64, text);
    // 19 digits fit into a u64.
    for most in [8, 8, 3] {
        let (digits, count) = eight::digits(u64::from_le_bytes(*rest.first_chunk()?));
        value = value.wrapping_mul(*SCALES.get(count)?).wrapping_add(digits);
        rest = rest.get(count..)?;
        if count < 8 {
            let behind = rest.strip_prefix(b"\t")?;
            return (count <= most && rest.len() < text.len()).then_some((value, behind));
        }
    }
    None
}

fn digit(byte: u8) -> Option<u8> {
    byte.is_ascii_digit().then(|| byte.wrapping_sub(b'0'))
}

#[cfg(test)]
mod tests {
    use super::{before_tab, parse};

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
    fn a_number_before_a_tab_is_what_parse_reads() {
        for length in 1..=30 {
            let mixed = "1234567890".repeat(3).get(..length).unwrap_or("").to_owned();
            for digits in ["1".repeat(length), "9".repeat(length), "0".repeat(length), mixed] {
                for tail in ["\t", "\t12345678", ".5\tand more", "\\0\tSELECT 1", "-\tSELECT 1"] {
                    let text = format!("{digits}{tail}");
                    // All of the word that holds the tab must be there.
                    let whole = (length + 1).next_multiple_of(8) <= text.len() && tail.starts_with('\t');
                    let expected = parse(digits.as_bytes()).filter(|_| whole && length <= 19);
                    let found = before_tab(text.as_bytes());
                    assert_eq!(found.map(|(value, _)| i128::from(value)), expected, "{text}");
                    assert!(found.is_none_or(|(_, behind)| behind == &tail.as_bytes()[1..]), "{text}");
                }
            }
        }
        for other in ["", "\t", "\t1234567890", "-1234567\t", "+1234567\t", " 1234567\t", "12", "\u{661}2345678\t"] {
            assert_eq!(before_tab(other.as_bytes()), None, "{other}");
        }
    }
}

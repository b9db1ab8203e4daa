//! Decimal numbers in bytes, as C prints them.

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

fn digit(byte: u8) -> Option<u8> {
    byte.is_ascii_digit().then(|| byte.wrapping_sub(b'0'))
}

#[cfg(test)]
mod tests {
    use super::parse;

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
}

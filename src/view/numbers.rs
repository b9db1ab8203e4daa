//! Numbers as people read them: thousands parted, a fixed count of digits behind the point.

use std::fmt::Write;

use super::text::push_number;

/// `1234567` as `1,234,567`.
pub(super) fn thousands(value: i128) -> String {
    let mut digits = String::new();
    push_number(&mut digits, value, 0);
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits.as_str()), |digits| ("-", digits));
    let mut out = String::with_capacity(digits.len() * 4 / 3 + 2);
    out.push_str(sign);
    let (first, groups) = digits.split_at_checked(digits.len() % 3).unwrap_or(("", digits));
    out.push_str(first);
    for group in groups.as_bytes().chunks(3) {
        if out.len() > sign.len() {
            out.push(',');
        }
        group.iter().for_each(|&digit| out.push(char::from(digit)));
    }
    out
}

/// Appends a number with so many digits (1 to 6) behind the point, as `{:.4}` does, but in a tenth of the time.
pub(super) fn push_rounded<const DIGITS: u32>(out: &mut String, value: f64) {
    let scaled = value * 10f64.powi(DIGITS.cast_signed());
    let whole = scaled.floor();
    let part = scaled - whole;
    // Near the middle of two results the product's own rounding could decide: there, and for what is no usual number, the slow way.
    if !(0.0..1e9).contains(&scaled) || scaled.is_sign_negative() || (part - 0.5).abs() < 1e-4 {
        _ = write!(out, "{value:.0$}", DIGITS as usize);
        return;
    }
    let digits = whole as u64 + u64::from(part > 0.5);
    let unit = 10u64.pow(DIGITS);
    push_number(out, (digits / unit).into(), 0);
    out.push('.');
    for place in (0..DIGITS).rev() {
        out.push(char::from(b'0' + (digits / 10u64.pow(place) % 10) as u8));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_as_the_standard_library_does() {
        let mut state = 1u64;
        let awkward =
            [0.0, 0.00005, 0.00015, 0.005, 0.99995, 99.99995, 100.0, 100.25, 1e-9, -0.0, -1.0, 1e12, f64::NAN];
        let random = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64 * 101.0
        });
        let halves = (0..1 << 12).map(|at| f64::from(at) / 32.0);
        for value in awkward.into_iter().chain(halves).chain(random.take(100_000)) {
            let (mut two, mut four) = (String::new(), String::new());
            push_rounded::<2>(&mut two, value);
            push_rounded::<4>(&mut four, value);
            assert_eq!((two, four), (format!("{value:.2}"), format!("{value:.4}")));
        }
    }

    #[test]
    fn thousands_are_parted() {
        let numbers = [0, 1, 12, 123, 1234, 123_456, -1, -123, -1234, -123_456, i128::MAX, i128::MIN];
        for (number, text) in numbers.into_iter().zip([
            "0",
            "1",
            "12",
            "123",
            "1,234",
            "123,456",
            "-1",
            "-123",
            "-1,234",
            "-123,456",
            "170,141,183,460,469,231,731,687,303,715,884,105,727",
            "-170,141,183,460,469,231,731,687,303,715,884,105,728",
        ]) {
            assert_eq!(thousands(number), text);
        }
    }
}

//! Buckets of `hist()` and `lhist()`: `[512, 1K)  12 |@@@|`, `[0]`, `(..., 0)`, `[2000, ...)`.

/// Bounds (the upper one outside) and count of a bucket's line.
pub(super) fn parse(line: &[u8]) -> Option<(i128, i128, i128)> {
    let text = std::str::from_utf8(line).ok()?.trim_start();
    let (bounds, rest) = text.split_at(text.find([')', ']'])?);
    let (end, rest) = rest.split_at(1);
    let open = bounds.strip_prefix(['[', '('])?;
    let count = rest.split('|').next()?.trim().parse().ok()?;
    if !rest.contains('|') {
        return None;
    }
    let Some((low, high)) = open.split_once(", ") else {
        let value = bound(open)?;
        return Some((value, value.checked_add(1)?, count));
    };
    let low = if low == "..." { i128::MIN } else { bound(low)? };
    let high = match (high, end) {
        ("...", _) => i128::MAX,
        (high, "]") => bound(high)?.checked_add(1)?,
        (high, _) => bound(high)?,
    };
    (low < high).then_some((low, high, count))
}

/// `1K` is 1024.
fn bound(text: &str) -> Option<i128> {
    let (digits, shift) = match text.as_bytes().last()? {
        b'K' => (text.strip_suffix('K')?, 10),
        b'M' => (text.strip_suffix('M')?, 20),
        b'G' => (text.strip_suffix('G')?, 30),
        b'T' => (text.strip_suffix('T')?, 40),
        b'P' => (text.strip_suffix('P')?, 50),
        b'E' => (text.strip_suffix('E')?, 60),
        _ => (text, 0),
    };
    digits.parse::<i128>().ok()?.checked_mul(1i128 << shift)
}

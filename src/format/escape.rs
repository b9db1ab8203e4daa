//! Texts as DTrace's `%S` prints them: C escapes, octal for every byte that is not printable ASCII, `\0` for the end of the string.

use std::borrow::Cow;

/// The bytes that were printed; borrowed where nothing was escaped. One `\0` at the end is taken off: it is the string's own end.
pub(super) fn undo(text: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = memchr::memchr(b'\\', text) else { return Cow::Borrowed(text) };
    let text = without_end(text);
    if first >= text.len() {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len());
    undo_into(text, &mut out);
    Cow::Owned(out)
}

/// Appends the bytes that were printed, the string's own end too, if it is there.
fn undo_into(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(rest.get(..at).unwrap_or(&[]));
        let (bytes, used) = one(rest.get(at..).unwrap_or(&[]));
        out.extend(bytes);
        rest = rest.get(at.saturating_add(used)..).unwrap_or(&[]);
    }
    out.extend_from_slice(rest);
}

/// The same as [`undo`], in memory that is used again and again.
pub(super) fn undo_in<'a>(text: &[u8], memory: &'a mut Vec<u8>) -> &'a [u8] {
    memory.clear();
    undo_into(without_end(text), memory);
    memory
}

/// Bytes as text; what is not UTF-8 becomes U+FFFD.
pub(super) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    // `from_utf8_lossy` alone is several times slower where nothing has to be replaced.
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// `text` without the final `\0`; a `\\` before a `0` is an escaped backslash and stays.
fn without_end(text: &[u8]) -> &[u8] {
    let Some(before) = text.strip_suffix(b"0") else { return text };
    let slashes = before.iter().rev().take_while(|&&byte| byte == b'\\').count();
    if slashes % 2 == 1 { before.get(..before.len().saturating_sub(1)).unwrap_or(text) } else { text }
}

/// The byte of the escape that `text` begins with, and the length of the escape. An unknown one stays as it is.
fn one(text: &[u8]) -> (Option<u8>, usize) {
    let octal = |byte: u8| (b'0'..=b'7').contains(&byte).then(|| u32::from(byte.wrapping_sub(b'0')));
    match *text {
        [_, a, b, c, ..] if octal(a).is_some() && octal(b).is_some() && octal(c).is_some() => {
            let value =
                [a, b, c].into_iter().filter_map(octal).fold(0u32, |value, digit| value.wrapping_mul(8) + digit);
            (u8::try_from(value).ok(), 4)
        }
        [_, b'0', ..] => (Some(0), 2),
        [_, b'a', ..] => (Some(7), 2),
        [_, b'b', ..] => (Some(8), 2),
        [_, b'f', ..] => (Some(12), 2),
        [_, b'n', ..] => (Some(b'\n'), 2),
        [_, b'r', ..] => (Some(b'\r'), 2),
        [_, b't', ..] => (Some(b'\t'), 2),
        [_, b'v', ..] => (Some(11), 2),
        [_, byte @ (b'\\' | b'"' | b'\''), ..] => (Some(byte), 2),
        _ => (Some(b'\\'), 1),
    }
}

#[cfg(test)]
mod tests {
    use super::{undo, undo_in};

    #[test]
    fn escapes_are_undone() {
        let cases: [(&[u8], &[u8]); 9] = [
            (br"SELECT 1\0", b"SELECT 1"),
            (br"\0", b""),
            (b"plain", b"plain"),
            (br"a\n\tb\0", b"a\n\tb"),
            (br#"\"x\" \\ \303\274\0"#, b"\"x\" \\ \xc3\xbc"),
            // A full buffer has no end mark: this is a backslash and a zero.
            (br"cut\\0", br"cut\0"),
            (br"cut\\\0", br"cut\"),
            (br"\001\a\v", b"\x01\x07\x0b"),
            (br"odd \q and \", br"odd \q and \"),
        ];
        for (text, bytes) in cases {
            assert_eq!(undo(text).as_ref(), bytes, "{}", String::from_utf8_lossy(text));
            assert_eq!(undo_in(text, &mut b"before".to_vec()), bytes);
        }
    }
}

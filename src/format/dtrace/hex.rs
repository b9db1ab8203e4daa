//! String keys with bytes that are not printable ASCII: dtrace(1) prints them as a hex dump.
//!
//! A header line of the digits 0 to f, then lines of an offset, 16 bytes and their characters. The text ends at the first NUL; the dump shows the whole
//! buffer. Source: `dt_print_bytes`.

/// Whether the line is the header of a dump.
pub(super) fn is_header(line: &[u8]) -> bool {
    line.trim_ascii() == b"0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef"
}

/// The bytes so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Dump {
    bytes: Vec<u8>,
}

/// A key is at most as long as DTrace's string buffer; dumps of other data end here.
const MAX: usize = 1 << 20;

impl Dump {
    /// Takes the line if it continues the dump.
    pub(super) fn push(&mut self, line: &[u8]) -> bool {
        let text = line.trim_ascii_start();
        let Some(colon) = memchr::memchr(b':', text) else { return false };
        let (offset, rest) = text.split_at(colon);
        let expected = format!("{:x}", self.bytes.len());
        if offset != expected.as_bytes() || self.bytes.len() > MAX {
            return false;
        }
        // ` xx` sixteen times, then two blanks and the characters.
        for group in rest.get(1..).unwrap_or(&[]).chunks(3).take(16) {
            match group {
                [b' ', high, low] => match (nibble(*high), nibble(*low)) {
                    (Some(high), Some(low)) => self.bytes.push(high << 4 | low),
                    _ => break,
                },
                _ => break,
            }
        }
        true
    }

    /// The text, up to its NUL.
    pub(super) fn finish(self) -> Vec<u8> {
        let mut bytes = self.bytes;
        bytes.truncate(memchr::memchr(0, &bytes).unwrap_or(bytes.len()));
        bytes
    }
}

fn nibble(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dump_becomes_its_text() {
        assert!(is_header(b"             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef"));
        let mut dump = Dump::default();
        assert!(dump.push(b"         0: 5a c3 bc 72 69 63 68 20 41 42 43 44 45 46 47 48  Z..rich ABCDEFGH"));
        assert!(dump.push(b"        10: 21 00                                            !."));
        assert!(!dump.push(b"               88"));
        assert_eq!(dump.finish(), "Zürich ABCDEFGH!".as_bytes());
    }
}

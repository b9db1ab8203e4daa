//! Eight bytes at once: the values of a record are so short that a search byte by byte, or a call of a vectorized one, costs most of
//! the time.

/// How many words are looked at here; whatever is longer is worth the call of a vectorized search.
const WORDS: usize = 2;

/// Where the first of two bytes is that are searched for.
#[inline]
pub(super) fn find(wanted: [u8; 2], text: &[u8]) -> Option<usize> {
    let (words, _) = text.as_chunks::<8>();
    let mut before = 0usize;
    for word in words.iter().take(WORDS) {
        let word = u64::from_le_bytes(*word);
        let found = wanted.map(|byte| zeros(word ^ repeat(byte)));
        let found = found[0] | found[1];
        if found != 0 {
            return Some(before.saturating_add(place(found)));
        }
        before = before.saturating_add(8);
    }
    let rest = text.get(before..)?;
    memchr::memchr2(wanted[0], wanted[1], rest).map(|at| before.saturating_add(at))
}

/// How many bytes of a word are decimal digits before the first that is none, and their value. The first byte of the text is the
/// lowest of the word.
#[inline]
pub(super) fn digits(word: u64) -> (u64, usize) {
    let values = word ^ repeat(b'0');
    // A byte is a digit if it is now 0 to 9: adding 0x76 sets the highest bit of any other. What that carries over spoils higher bytes only,
    // which come later in the text.
    let others = (values.wrapping_add(repeat(0x76)) | values) & repeat(0x80);
    let count = place(others);
    // The digits go to the end of the word, behind zeros; in two steps, since a shift by all 64 bits would be none.
    let half = u32::try_from(8usize.wrapping_sub(count)).unwrap_or(0).wrapping_mul(4);
    (eight_digits(values.wrapping_shl(half).wrapping_shl(half)), count)
}

/// The number that eight digits are, the first one in the lowest byte: neighbours are joined three times.
fn eight_digits(digits: u64) -> u64 {
    let join = |value: u64, scale: u64, bits: u32, mask: u64| {
        value.wrapping_mul(scale).wrapping_add(value.wrapping_shr(bits)) & mask
    };
    let pairs = join(digits, 10, 8, 0x00ff_00ff_00ff_00ff);
    let fours = join(pairs, 100, 16, 0x0000_ffff_0000_ffff);
    join(fours, 10_000, 32, 0xffff_ffff)
}

/// A word of the same byte.
const fn repeat(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// The highest bit of every byte that is zero; above the first one others may be set, too.
fn zeros(word: u64) -> u64 {
    word.wrapping_sub(repeat(1)) & !word & repeat(0x80)
}

/// Number of the byte with the lowest bit that is set; 8 if there is none.
fn place(bits: u64) -> usize {
    usize::try_from(bits.trailing_zeros() / 8).unwrap_or(8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_two_is_found_wherever_it_is() {
        for length in 0..40 {
            for at in 0..length {
                for filler in [b'a', 0, 0x80, 0xff, b'\t' + 1, b'\\' - 1, b'\t' | 0x80] {
                    for byte in [b'\t', b'\\'] {
                        let mut text = vec![filler; length];
                        assert_eq!(find([b'\t', b'\\'], &text), None);
                        text[at] = byte;
                        text[length - 1] = byte;
                        assert_eq!(find([b'\t', b'\\'], &text), Some(at), "{text:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn digits_end_at_any_other_byte() {
        for count in 0..=8usize {
            for after in 0..=255u8 {
                let mut text = *b"90817263";
                text.iter_mut().skip(count).for_each(|byte| *byte = after);
                let (value, length) = digits(u64::from_le_bytes(text));
                let expected: String =
                    text.iter().map(|&byte| char::from(byte)).take_while(char::is_ascii_digit).collect();
                assert_eq!((value, length), (expected.parse().unwrap_or(0), expected.len()), "{text:?}");
            }
        }
        assert_eq!(digits(u64::from_le_bytes(*b"99999999")), (99_999_999, 8));
        assert_eq!(digits(u64::from_le_bytes(*b"00000000")), (0, 8));
    }
}

//! `-x agghist` and `-x aggpack` of macOS, illumos and FreeBSD: one line a row, with a bar.
//!
//! agghist draws counts and sums as bars: the key right-aligned, `|`, the bar, the value. aggpack draws a distribution in one line: the
//! key, the lowest bucket, a bar of blocks between colons, the highest bucket, `|`, the number of values. Its blocks hold no numbers, so
//! that only the number of values is read. Source of both layouts: `dt_print_hist_hdr` and `dt_print_packed_hdr` of illumos.

use crate::format::number;

/// What the lines below a header are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bars {
    /// agghist.
    Hist,
    /// aggpack.
    Packed,
}

/// The sort of bars that this line is the header of.
pub(super) fn header(line: &[u8]) -> Option<Bars> {
    if !line.trim_ascii_end().ends_with(b" count") {
        return None;
    }
    let words = || line.split(|&byte| byte == b' ').filter(|word| !word.is_empty());
    match words().next() {
        Some(b"key") if memchr::memmem::find(line, b"- Distribution -").is_some() => Some(Bars::Hist),
        Some(b"key" | b"min") if words().any(|word| word == b"|" || word == b"max") => Some(Bars::Packed),
        _ => None,
    }
}

impl Bars {
    /// Key and value of a row.
    pub(super) fn row(self, line: &[u8]) -> Option<(&[u8], i128)> {
        let axis = memchr::memrchr(b'|', line)?;
        let (left, right) = (line.get(..axis)?, line.get(axis.saturating_add(1)..)?);
        let value = right.rsplit(|&byte| byte == b' ').find(|word| !word.is_empty())?;
        let value = number::parse(value)?;
        let key = match self {
            Bars::Hist => left,
            Bars::Packed => {
                // `key  min :blocks: max`: the key ends before the number in front of the colon.
                let colon = memchr::memmem::find(left, b" :")?;
                let head = left.get(..colon)?.trim_ascii_end();
                let low = head.iter().rposition(|&byte| byte == b' ').map_or(0, |at| at.saturating_add(1));
                number::parse(head.get(low..)?)?;
                head.get(..low)?
            }
        };
        Some((key.trim_ascii(), value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_agghist() {
        let head = b"              key  ------------- Distribution ------------- count    ";
        assert_eq!(header(head), Some(Bars::Hist));
        let row = b"             read |@@@@@@@@@@                               12       ";
        assert_eq!(Bars::Hist.row(row), Some((&b"read"[..], 12)));
        assert_eq!(header(b"           value  ------------- Distribution ------------- count    "), None);
    }

    #[test]
    fn rows_of_aggpack() {
        let head = b"              key       min .------------------. max       | count";
        assert_eq!(header(head), Some(Bars::Packed));
        let row = b"             read       512 :   __xxXX__       : 16384     | 40";
        assert_eq!(Bars::Packed.row(row), Some((&b"read"[..], 40)));
    }
}

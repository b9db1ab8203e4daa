//! The block that DTrace prints for `quantize()` and its kin: a header line, one line a bucket.
//!
//! A bucket's line holds its label in 16 columns, 41 characters of bar and axis, and the count. What a label means depends on
//! the function and, for negative values, on the system; `bounds` below works it out from the labels. Sources: what DTrace 2.0.7 printed
//! (tests/data/dtrace), `dt_print_quantize` and `dtrace_aggregate_quantize` for the sides of negative buckets.

use super::number;
use crate::model::{Distribution, Function};

/// Whether the line is the header of a distribution.
pub(super) fn is_header(line: &[u8]) -> bool {
    const DASHES: &[u8] = b"------------- Distribution -------------";
    line.len() >= DASHES.len() && line.first().is_some_and(u8::is_ascii_whitespace) && {
        memchr::memmem::find(line, DASHES).is_some()
    }
}

/// What stands left of the bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Label {
    /// A bound of the bucket.
    At(i128),
    /// `< N`
    Below(i128),
    /// `<= N`: the lowest bucket of Linux' llquantize.
    UpTo(i128),
    /// `>= N`
    From(i128),
    /// `abs() < N`: the middle bucket of Linux' llquantize.
    Around(i128),
}

/// The lines of one block, until its end is seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    rows: Vec<(Label, i128)>,
}

impl Block {
    /// Takes the line if it is a bucket of this block.
    pub(super) fn push(&mut self, line: &[u8]) -> bool {
        let row = bucket(line);
        self.rows.extend(row);
        row.is_some()
    }

    /// Whether no bucket was read.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The function, as far as the labels tell it.
    pub(super) fn function(&self) -> Function {
        let labels: Vec<i128> = self.rows.iter().filter_map(|(label, _)| label.plain()).collect();
        let open = self.rows.iter().any(|(label, _)| label.plain().is_none());
        let around = self.rows.iter().any(|(label, _)| matches!(label, Label::Around(_) | Label::UpTo(_)));
        let power = |value: i128| value == 0 || value.unsigned_abs().is_power_of_two();
        if !open && labels.iter().all(|&value| power(value)) {
            return Function::Quantize;
        }
        let mut steps = labels.iter().zip(labels.iter().skip(1)).map(|(low, high)| high.saturating_sub(*low));
        let first = steps.next();
        if !around && steps.all(|step| Some(step) == first) { Function::Lquantize } else { Function::Llquantize }
    }

    /// The block as buckets with bounds; `function` decides to which side negative labels reach.
    pub(super) fn finish(self, function: Function) -> Distribution {
        let mut all = Distribution::new();
        for (at, &(label, count)) in self.rows.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|before| self.rows.get(before)).map(|row| row.0);
            let after = self.rows.get(at.saturating_add(1)).map(|row| row.0);
            let (low, high) = bounds(function, before, label, after);
            all.add(low, high, count);
        }
        all
    }
}

impl Label {
    fn plain(self) -> Option<i128> {
        match self {
            Label::At(value) => Some(value),
            _ => None,
        }
    }

    /// Where the bucket of this label begins, seen from the one below it.
    fn start(self) -> Option<i128> {
        match self {
            Label::At(value) | Label::From(value) => Some(value),
            Label::Around(value) => Some(value.saturating_neg().saturating_add(1)),
            Label::Below(_) | Label::UpTo(_) => None,
        }
    }
}

/// Bounds of a bucket, `low <= v < high`. Negative labels of quantize and llquantize are the bound next to zero; all other labels are
/// lower bounds.
fn bounds(function: Function, before: Option<Label>, label: Label, after: Option<Label>) -> (i128, i128) {
    match label {
        Label::Below(value) => (i128::MIN, value),
        Label::UpTo(value) => (i128::MIN, value.saturating_add(1)),
        Label::From(value) => (value, i128::MAX),
        Label::Around(value) => (value.saturating_neg().saturating_add(1), value),
        Label::At(value) if value < 0 && function != Function::Lquantize => {
            let low = match before {
                Some(Label::At(below) | Label::UpTo(below)) => below.saturating_add(1),
                _ => value.saturating_mul(2).saturating_add(1),
            };
            (low, value.saturating_add(1))
        }
        Label::At(value) => {
            let high = match (after.and_then(Label::start), function) {
                (Some(high), _) => high,
                (None, Function::Lquantize | Function::Llquantize) => i128::MAX,
                (None, _) => value.saturating_mul(2).max(value.saturating_add(1)),
            };
            (value, high)
        }
    }
}

/// `  >= 500 |@@@@    597      `: label, bar in any of the three layouts (`|` left, right or in the middle), count.
fn bucket(line: &[u8]) -> Option<(Label, i128)> {
    let at = memchr::memchr(b'|', line)?;
    let (left, right) = (line.get(..at)?, line.get(at.saturating_add(1)..)?);
    // The bar may stand left of the axis, right of it, or on both sides; `utf8` draws with U+2588 and its kin.
    let bar = |byte: &u8| *byte == b'@' || *byte >= 0x80;
    let left = left.trim_ascii_end();
    let label = left.get(..left.iter().rposition(|byte| !bar(byte)).map_or(0, |last| last.saturating_add(1)))?;
    let count = right.trim_ascii_start();
    let count = count.get(count.iter().position(|byte| !bar(byte)).unwrap_or(count.len())..)?;
    Some((parse_label(label.trim_ascii())?, number::parse(count.trim_ascii())?))
}

fn parse_label(text: &[u8]) -> Option<Label> {
    let value = |rest: &[u8]| number::parse(rest.trim_ascii());
    if let Some(rest) = text.strip_prefix(b"abs() <") {
        return value(rest).map(Label::Around);
    }
    match text {
        [b'<', b'=', rest @ ..] => value(rest).map(Label::UpTo),
        [b'>', b'=', rest @ ..] => value(rest).map(Label::From),
        [b'<', rest @ ..] => value(rest).map(Label::Below),
        _ => number::parse(text).map(Label::At),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Function, Vec<(i128, i128, i128)>) {
        let mut block = Block::default();
        for line in text.lines() {
            assert!(block.push(line.as_bytes()), "{line}");
        }
        let function = block.function();
        let all = block.finish(function);
        (function, all.buckets().iter().map(|bucket| (bucket.low, bucket.high, bucket.count)).collect())
    }

    #[test]
    fn quantize_has_powers_of_two() {
        let text = "\
             256 |                                         0        
             512 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@           3        
            1024 |@@@@@@@@@@                               1        
            2048 |                                         0        ";
        assert_eq!(read(text), (Function::Quantize, vec![(512, 1024, 3), (1024, 2048, 1)]));
    }

    #[test]
    fn negative_labels_of_quantize_are_the_bound_next_to_zero() {
        // dtrace_aggregate_quantize puts -7..-4 under -4 and -1 under -1.
        let text = "\
              -8 |                                         0        
              -4 |@@@@@@@@@@@@@@@@@@@@                     1        
              -2 |                                         0        
              -1 |@@@@@@@@@@@@@@@@@@@@                     1        
               0 |                                         0        ";
        assert_eq!(read(text).1, vec![(-7, -3, 1), (-1, 0, 1)]);
    }

    #[test]
    fn the_axis_may_stand_right_or_in_the_middle() {
        let right = "               4     @@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@| -7       ";
        assert_eq!(read(right).1, vec![(4, 8, -7)]);
        let middle = "\
               2                  @@|                    -2       
               4                    |@@@@                5        ";
        assert_eq!(read(middle).1, vec![(2, 4, -2), (4, 8, 5)]);
    }

    #[test]
    fn lquantize_is_open_at_its_ends() {
        let text = "\
             < 0 |@                                        1        
               0 |@@@@@@@@@@@@                             1304     
              50 |@@@@@@@@@@                               1144     
          >= 100 |@@@@@                                    597      ";
        let buckets = vec![(i128::MIN, 0, 1), (0, 50, 1304), (50, 100, 1144), (100, i128::MAX, 597)];
        assert_eq!(read(text), (Function::Lquantize, buckets));
    }

    #[test]
    fn llquantize_of_linux_is_symmetric() {
        let text = "\
        <= -1000 |@                                        1        
            -900 |@                                        2        
            -800 |@                                        3        
         abs() < 100 |@                                        4        
             100 |@                                        5        
             200 |@                                        6        
         >= 1000 |@                                        7        ";
        let (function, buckets) = read(text);
        assert_eq!(function, Function::Llquantize);
        assert_eq!(
            buckets,
            vec![
                (i128::MIN, -999, 1),
                (-999, -899, 2),
                (-899, -799, 3),
                (-99, 100, 4),
                (100, 200, 5),
                (200, 1000, 6),
                (1000, i128::MAX, 7)
            ]
        );
    }

    #[test]
    fn other_lines_are_no_buckets() {
        for line in ["", "a | b", "  12 | 3 | 4", "CPU", "|", "1|", "   -> scan | 5"] {
            assert!(!Block::default().push(line.as_bytes()), "{line}");
        }
    }
}

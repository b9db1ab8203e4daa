//! Counts over time and latency, for heat maps; memory does not grow with the records.

use std::collections::BTreeMap;

/// At most so many columns; then two or more become one.
const COLUMNS: i64 = 240;

/// So many values make a range of time, and so far away from it in nanoseconds (31 days) a value is outside.
const MANY: u64 = 50;
const FAR: i64 = 31 * 86_400 * 1_000_000_000;

/// Where the rows of a power of ten begin, in tenths of it.
const STEPS: [u64; 6] = [10, 15, 20, 30, 50, 70];

/// Widths of a column in nanoseconds; each divides the next.
const WIDTHS: [i64; 21] = {
    const MS: i64 = 1_000_000;
    const S: i64 = 1000 * MS;
    const H: i64 = 3600 * S;
    [
        MS,
        5 * MS,
        10 * MS,
        50 * MS,
        100 * MS,
        500 * MS,
        S,
        5 * S,
        10 * S,
        30 * S,
        60 * S,
        300 * S,
        600 * S,
        1800 * S,
        H,
        6 * H,
        12 * H,
        24 * H,
        168 * H,
        24 * 168 * H,
        240 * 168 * H,
    ]
};

/// Counts by time and latency.
#[derive(Clone, Debug, Default)]
pub struct Heat {
    cells: BTreeMap<(i64, u8), u64>,
    width: usize,
    placed: u64,
    first: i64,
    last: i64,
    /// Values far away in time from all the others.
    outside: u64,
    /// Counts by latency alone, of all values, also those without a time.
    rows: BTreeMap<u8, u64>,
}

impl Heat {
    /// Adds a duration, and when it ended if that is known; both in nanoseconds.
    pub fn add(&mut self, end: Option<i64>, duration: u64) {
        let row = Heat::row(duration);
        *self.rows.entry(row).or_default() += 1;
        let Some(end) = end else { return };
        if self.is_far(end) {
            self.outside += 1;
            return;
        }
        self.placed += 1;
        let mut column = end.div_euclid(self.width());
        if self.cells.is_empty() {
            (self.first, self.last) = (column, column);
        }
        while column.max(self.last).saturating_sub(column.min(self.first)) >= COLUMNS && self.widen() {
            column = end.div_euclid(self.width());
        }
        (self.first, self.last) = (self.first.min(column), self.last.max(column));
        *self.cells.entry((column, row)).or_default() += 1;
    }

    /// Sessions can set their clock to anything: a statement months away from many others would make one column of all of them.
    fn is_far(&self, end: i64) -> bool {
        let column = |column: i64| column.saturating_mul(self.width());
        self.placed >= MANY
            && (end < column(self.first).saturating_sub(FAR)
                || end > column(self.last.saturating_add(1)).saturating_add(FAR))
    }

    /// How many values have no place in the columns, since they are far away in time from the others.
    pub fn outside(&self) -> u64 {
        self.outside
    }

    fn widen(&mut self) -> bool {
        let before = self.width();
        if self.width + 1 >= WIDTHS.len() {
            return false;
        }
        self.width += 1;
        let factor = self.width() / before;
        let cells = std::mem::take(&mut self.cells);
        for ((column, row), count) in cells {
            *self.cells.entry((column.div_euclid(factor), row)).or_default() += count;
        }
        (self.first, self.last) = (self.first.div_euclid(factor), self.last.div_euclid(factor));
        true
    }

    /// Width of a column in nanoseconds.
    pub fn width(&self) -> i64 {
        WIDTHS.get(self.width).copied().unwrap_or(i64::MAX)
    }

    /// First and last column; a column is a time divided by [`Heat::width`].
    pub fn columns(&self) -> Option<(i64, i64)> {
        (!self.cells.is_empty()).then_some((self.first, self.last))
    }

    /// The cells that are not empty: column, row, count.
    pub fn cells(&self) -> impl Iterator<Item = (i64, u8, u64)> {
        self.cells.iter().map(|(&(column, row), &count)| (column, row, count))
    }

    /// Counts by latency, of all values: row, count.
    pub fn rows(&self) -> impl Iterator<Item = (u8, u64)> {
        self.rows.iter().map(|(&row, &count)| (row, count))
    }

    /// The row of a duration: six for each power of ten.
    pub fn row(duration: u64) -> u8 {
        let decade = duration.max(1).ilog10();
        let base = 10u64.pow(decade);
        let tenths = if base >= 10 { duration / (base / 10) } else { duration.max(1) * 10 };
        let step = STEPS.iter().rposition(|&step| tenths >= step);
        u8::try_from(u64::from(decade) * 6 + step.unwrap_or(0) as u64).unwrap_or(u8::MAX)
    }

    /// Least duration of a row.
    pub fn lower(row: u8) -> u64 {
        let step = STEPS.get(usize::from(row % 6)).copied().unwrap_or(10);
        let base = 10u64.checked_pow(u32::from(row / 6)).unwrap_or(u64::MAX);
        if base >= 10 { (base / 10).saturating_mul(step) } else { step.div_ceil(10) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_holds_its_durations() {
        for duration in [1u64, 2, 3, 9, 10, 14, 15, 999, 1000, 1_499_999, 1_500_000, u64::MAX] {
            let row = Heat::row(duration);
            assert!(Heat::lower(row) <= duration, "{duration}");
            assert!(row >= 115 || Heat::lower(row + 1) > duration, "{duration}");
        }
        assert_eq!((Heat::lower(36), Heat::lower(37), Heat::lower(41)), (1_000_000, 1_500_000, 7_000_000));
    }

    #[test]
    fn columns_are_bounded_and_nothing_is_lost() {
        let mut heat = Heat::default();
        for i in 0..10_000i64 {
            heat.add(Some(1_700_000_000_000_000_000 + i * i * 1_000_000), 1000);
        }
        let (first, last) = heat.columns().unwrap();
        assert!(last - first < COLUMNS);
        assert_eq!(heat.cells().map(|cell| cell.2).sum::<u64>(), 10_000);
    }
}

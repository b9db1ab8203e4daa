//! Latencies of one group of statements: exact while they are few, a histogram with an error below one percent after that.

use hdrhistogram::Histogram;

/// So many values are kept as they are.
const EXACT: usize = 96;
/// Longer ones count as this, in quantiles only: more than 11 days.
const LONGEST: u64 = 1_000_000_000_000_000;

/// Durations in nanoseconds, for quantiles; count, sum, least and greatest are exact.
#[derive(Clone, Debug, Default)]
pub struct Latency {
    /// How many.
    pub count: u64,
    /// Their sum.
    pub total: u64,
    /// The least; 0 if there is none.
    pub min: u64,
    /// The greatest.
    pub max: u64,
    few: Vec<u64>,
    many: Option<Box<Histogram<u32>>>,
}

impl Latency {
    /// Adds a duration.
    pub fn add(&mut self, value: u64) {
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += 1;
        self.total = self.total.saturating_add(value);
        match &mut self.many {
            Some(many) => _ = many.record(value.min(LONGEST)),
            None if self.few.len() < EXACT => self.few.push(value),
            None => self.spill(value),
        }
    }

    fn spill(&mut self, value: u64) {
        // Two digits: 256 steps an octave pair. Fails only for digits beyond 5.
        let Ok(mut many) = Histogram::new(2) else { return };
        many.auto(true);
        for value in self.few.drain(..).chain([value]) {
            _ = many.record(value.min(LONGEST));
        }
        self.many = Some(Box::new(many));
    }

    /// Mean, 0 without values.
    pub fn average(&self) -> u64 {
        self.total.checked_div(self.count).unwrap_or(0)
    }

    /// The least value that at least the share `q` (0.0 to 1.0) does not exceed.
    pub fn quantile(&self, q: f64) -> u64 {
        if let Some(many) = &self.many {
            return many.value_at_quantile(q).clamp(self.min, self.max);
        }
        let mut sorted = self.few.clone();
        sorted.sort_unstable();
        let rank = (q * sorted.len() as f64).ceil().max(1.0) as usize;
        sorted.get(rank - 1).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_near_the_sorted_values() {
        for length in [1u64, 7, 96, 97, 5000] {
            let mut latency = Latency::default();
            let mut values: Vec<u64> = (0..length).map(|i| (i * 7919) % 100_003 * 1000).collect();
            values.iter().for_each(|&value| latency.add(value));
            values.sort_unstable();
            for q in [0.5, 0.95, 0.99] {
                let rank = ((q * length as f64).ceil() as usize).max(1);
                let (exact, found) = (values[rank - 1], latency.quantile(q));
                assert!(found.abs_diff(exact) * 100 <= exact, "{length} values, {q}: {found} for {exact}");
            }
            assert_eq!((latency.min, latency.max), (values[0], values[values.len() - 1]));
        }
    }
}

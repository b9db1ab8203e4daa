//! A distribution: counts in buckets, as `quantize()` and its kin collect them.

/// Counts in buckets, sorted by lower bound; empty buckets are not kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distribution {
    buckets: Vec<Bucket>,
}

/// One bucket: the values `low <= v < high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Lower bound, inclusive; `i128::MIN`: open.
    pub low: i128,
    /// Upper bound, exclusive; `i128::MAX`: open.
    pub high: i128,
    /// How many (normalized and weighted counts may be negative).
    pub count: i128,
}

impl Distribution {
    /// An empty distribution.
    pub fn new() -> Distribution {
        Distribution::default()
    }

    /// Adds to the bucket `low..high`; a count of 0 adds nothing.
    pub fn add(&mut self, low: i128, high: i128, count: i128) {
        if count == 0 {
            return;
        }
        match self.buckets.binary_search_by(|bucket| (bucket.low, bucket.high).cmp(&(low, high))) {
            Ok(at) => {
                if let Some(bucket) = self.buckets.get_mut(at) {
                    bucket.count = bucket.count.saturating_add(count);
                    if bucket.count == 0 {
                        self.buckets.remove(at);
                    }
                }
            }
            Err(at) => self.buckets.insert(at, Bucket { low, high, count }),
        }
    }

    /// Adds every bucket of another distribution.
    pub fn merge(&mut self, other: &Distribution) {
        for bucket in &other.buckets {
            self.add(bucket.low, bucket.high, bucket.count);
        }
    }

    /// The filled buckets in order.
    pub fn buckets(&self) -> &[Bucket] {
        &self.buckets
    }

    /// Sum of all counts.
    pub fn count(&self) -> i128 {
        self.buckets.iter().fold(0i128, |sum, bucket| sum.saturating_add(bucket.count))
    }

    /// Estimated sum of the values: the middle of each bucket times its count; open bounds count as their closed side.
    pub fn estimated_sum(&self) -> i128 {
        self.buckets.iter().fold(0i128, |sum, bucket| sum.saturating_add(bucket.middle().saturating_mul(bucket.count)))
    }

    /// The bucket in which the quantile `q` (0.0 to 1.0) lies: its bounds are all that is known of the value.
    pub fn quantile(&self, q: f64) -> Option<Bucket> {
        let total: i128 = self.buckets.iter().map(|bucket| bucket.count.max(0)).fold(0, i128::saturating_add);
        if total == 0 {
            return None;
        }
        let rank = ((total as f64) * q).ceil().max(1.0) as i128;
        let mut seen = 0i128;
        self.buckets
            .iter()
            .find(|bucket| {
                seen = seen.saturating_add(bucket.count.max(0));
                seen >= rank
            })
            .copied()
    }
}

impl Bucket {
    /// A value that stands for the bucket: its middle.
    pub fn middle(&self) -> i128 {
        match (self.low, self.high) {
            (i128::MIN, i128::MAX) => 0,
            (i128::MIN, high) => high.saturating_sub(1),
            (low, i128::MAX) => low,
            (low, high) => low.saturating_add(high.saturating_sub(low).saturating_sub(1) / 2),
        }
    }
}

//! Filters on rows and events. Rows are filtered when their values are settled: what a value is, is known only after the last pass.

use super::{FieldType, FieldValue, Filter, Key, NameId, Names, Notes, Passes, Schema, Series, Severity, Value};

/// What filters took out of one kind of data.
#[derive(Clone, Copy, Debug, Default)]
struct LeftOut {
    count: u64,
    weight: i128,
}

impl LeftOut {
    fn add(&mut self, weight: i128) {
        self.count = self.count.saturating_add(1);
        self.weight = self.weight.saturating_add(weight);
    }

    fn tell(self, what: String, notes: &mut Notes) {
        if self.count > 0 {
            notes.add(Severity::Info, format!("{what} left out by filters"), self.count, self.weight, None);
        }
    }
}

/// Counts what filters take out.
#[derive(Default)]
pub(super) struct Sieve {
    events: LeftOut,
}

impl Sieve {
    /// Whether the event is kept.
    pub(super) fn keeps_event(&mut self, filter: &Filter, schema: &Schema, values: &[FieldValue]) -> bool {
        if filter.keeps_all_rows() {
            return true;
        }
        let fields = || schema.fields.iter().zip(values);
        let texts = fields().filter_map(|(_, value)| match value {
            FieldValue::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let durations: Vec<i128> = fields()
            .filter_map(|(field, value)| match (field.kind, value) {
                (FieldType::Duration, FieldValue::Int(value)) => Some(*value),
                _ => None,
            })
            .collect();
        let long = filter.min.is_none_or(|min| {
            !schema.fields.iter().any(|field| field.kind == FieldType::Duration)
                || durations.iter().any(|&value| value >= i128::from(min))
        });
        let wanted = |name: &str, wanted: &str| {
            fields().any(|(field, value)| {
                field.name == name
                    && match value {
                        FieldValue::Unknown => wanted.is_empty(),
                        FieldValue::Int(value) => value.to_string() == wanted,
                        FieldValue::Text(value) => value == wanted,
                    }
            })
        };
        let keeps = long && filter.keeps_text(texts) && filter.keys.iter().all(|(name, value)| wanted(name, value));
        if !keeps {
            self.events.add(durations.first().copied().unwrap_or(0));
        }
        keeps
    }

    /// Filters settled rows, and tells what all filters took out.
    pub(super) fn finish(&mut self, filter: &Filter, names: &Names, series: &mut [Series], notes: &mut Notes) {
        std::mem::take(&mut self.events).tell("records (weight in ns)".into(), notes);
        if filter.keeps_all_rows() {
            return;
        }
        let mut matches = Matches { filter, names, known: Vec::new() };
        for series in series.iter_mut() {
            let (kept, left_out) = matches.sift(series);
            let unit = if series.is_additive() { series.unit.to_string() } else { String::new() };
            let unit = if unit.is_empty() { unit } else { format!(" (weight in {unit})") };
            left_out.tell(format!("rows{unit}"), notes);
            if filter.min.is_some() && series.is_distribution() {
                notes.info("--min: distributions are shown as they are");
            }
            *series = kept;
        }
    }
}

/// What the regular expressions say of each name, worked out once.
struct Matches<'a> {
    filter: &'a Filter,
    names: &'a Names,
    known: Vec<Option<Verdict>>,
}

#[derive(Clone, Copy)]
struct Verdict {
    only: bool,
    without: bool,
    root: bool,
}

impl Matches<'_> {
    fn of(&mut self, id: NameId) -> Verdict {
        let at = id.0 as usize;
        if at >= self.known.len() {
            self.known.resize(at.saturating_add(1), None);
        }
        if let Some(Some(verdict)) = self.known.get(at) {
            return *verdict;
        }
        let (filter, text) = (self.filter, self.names.get(id));
        let verdict = Verdict {
            only: filter.only.iter().any(|regex| regex.is_match(text)),
            without: filter.without.iter().any(|regex| regex.is_match(text)),
            root: filter.root.as_ref().is_some_and(|regex| regex.is_match(text)),
        };
        if let Some(place) = self.known.get_mut(at) {
            *place = Some(verdict);
        }
        verdict
    }

    /// The rows of a series that are kept, without the dropped keys; and what is left out.
    fn sift(&mut self, series: &Series) -> (Series, LeftOut) {
        let filter = self.filter;
        // Keys without a name are called by their place, from 1.
        let is_named = |at: usize, key: &Key, name: &str| {
            key.name.as_deref().map_or_else(|| name == at.saturating_add(1).to_string(), |own| own == name)
        };
        let place = |name: &str| series.keys.iter().enumerate().position(|(at, key)| is_named(at, key, name));
        let wanted: Vec<(Option<usize>, &str)> =
            filter.keys.iter().map(|(name, value)| (place(name), value.as_str())).collect();
        let dropped: Vec<usize> = filter.drop_keys.iter().filter_map(|name| place(name)).collect();
        let least = filter.min.filter(|_| !series.is_distribution()).and_then(|min| {
            let unit = series.unit.picoseconds()?;
            Some(i128::from(min).saturating_mul(1000) / unit)
        });
        let keys = series.keys.iter().enumerate().filter(|(at, _)| !dropped.contains(at));
        let keys: Vec<Key> = keys.map(|(_, key)| key.clone()).collect();
        let mut kept = series.empty_like(keys);
        let mut left_out = LeftOut::default();
        for row in series.rows() {
            let has_keys = wanted.iter().all(|&(place, value)| {
                place.and_then(|at| row.keys.get(at)).is_some_and(|&id| self.names.get(id) == value)
            });
            let stack = self.below_root(row.stack).filter(|_| {
                has_keys && least.is_none_or(|least| row.value >= least) && self.keeps(row.keys.iter().chain(row.stack))
            });
            let Some(stack) = stack else {
                left_out.add(if series.is_additive() { row.value } else { 0 });
                continue;
            };
            let keys = row.keys.iter().enumerate().filter(|(at, _)| !dropped.contains(at));
            let keys: Vec<NameId> = keys.map(|(_, &id)| id).collect();
            let value = row.distribution.map_or(Value::Number(row.value), |all| Value::Distribution(all.clone()));
            kept.add(&keys, stack, value);
        }
        kept.end_dump(Passes::Sum);
        (kept, left_out)
    }

    fn keeps<'b>(&mut self, ids: impl Iterator<Item = &'b NameId>) -> bool {
        let mut wanted = self.filter.only.is_empty();
        for &id in ids {
            let verdict = self.of(id);
            if verdict.without {
                return false;
            }
            wanted = wanted || verdict.only;
        }
        wanted
    }

    /// The stack from the first frame that `--root` matches; `None` if there is none.
    fn below_root<'b>(&mut self, stack: &'b [NameId]) -> Option<&'b [NameId]> {
        if self.filter.root.is_none() {
            return Some(stack);
        }
        let at = stack.iter().position(|&id| self.of(id).root)?;
        stack.get(at..)
    }
}

//! A workload: query records folded by digest, by latency and by time, as they stream.
//!
//! Its totals are those of all records that went in: nothing is left out, also not statements without SQL.

use std::collections::BTreeMap;
use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::nesting::Recent;
use super::{Distribution, Heat, Latency, NameId, Names, Query, QueryKind};
use crate::sql::{self, Fingerprinter};

/// Texts of samples are cut here.
const SAMPLE: usize = 8 << 10;

/// What kind of statements a class holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClassKind {
    /// Statements of one fingerprint.
    Sql,
    /// Administrator commands of one name.
    Admin,
    /// Statements without text, or of which the text is not known.
    Empty,
}

/// All statements of one fingerprint.
#[derive(Clone, Debug)]
pub struct Class {
    /// The fingerprint; for administrator commands `administrator command: NAME`.
    pub fingerprint: String,
    /// What kind of statements these are.
    pub kind: ClassKind,
    /// How many statements, with and without a known time.
    pub count: u64,
    /// Their times.
    pub latency: Latency,
    /// Times of statements that are known as a distribution only, in nanoseconds.
    pub spread: Distribution,
    /// Sum of the times of aggregated statements, where the source tells it.
    pub told_total: Option<i128>,
    /// Least and greatest times of aggregated statements, likewise.
    pub told_bounds: Vec<i128>,
    /// Time waited for locks; `None` if not told.
    pub lock_time: Option<u64>,
    /// Rows sent, read, changed; `None` if not told.
    pub rows: [Option<u64>; 3],
    /// How many failed; `None` if not told.
    pub errors: Option<u64>,
    /// How many texts were cut.
    pub cut: u64,
    /// How many ran inside another statement, and their time.
    pub nested: (u64, u64),
    /// Time of the statements that ran directly inside these.
    pub inside: u64,
    /// Databases, with the number of statements in each.
    pub databases: BTreeMap<NameId, u64>,
    /// Accounts, likewise.
    pub users: BTreeMap<NameId, u64>,
    /// Text of the slowest statement.
    pub sample: String,
    /// Time by kind of wait or phase, in nanoseconds, where the trace tells it.
    pub waits: BTreeMap<String, i128>,
    slowest: Option<u64>,
}

impl Class {
    fn new(fingerprint: String, kind: ClassKind) -> Class {
        Class {
            fingerprint,
            kind,
            count: 0,
            latency: Latency::default(),
            spread: Distribution::new(),
            told_total: None,
            told_bounds: Vec::new(),
            lock_time: None,
            rows: [None; 3],
            errors: None,
            cut: 0,
            nested: (0, 0),
            inside: 0,
            databases: BTreeMap::new(),
            users: BTreeMap::new(),
            sample: String::new(),
            waits: BTreeMap::new(),
            slowest: None,
        }
    }

    fn add_nested(&mut self, elapsed: u64) {
        self.nested.0 += 1;
        self.nested.1 = self.nested.1.saturating_add(elapsed);
    }

    /// An id that is the same in every run.
    pub fn id(&self) -> String {
        sql::id(&self.fingerprint)
    }

    /// Time of all its statements in nanoseconds; for distributions without a told sum, an estimate.
    pub fn total(&self) -> i128 {
        let aggregated = self.told_total.unwrap_or_else(|| self.spread.estimated_sum());
        i128::from(self.latency.total).saturating_add(aggregated)
    }

    /// Whether [`Class::total`] is an estimate.
    pub fn is_estimated(&self) -> bool {
        self.told_total.is_none() && self.spread.count() > 0
    }

    /// Least and greatest time; bounds of buckets where only a distribution is known.
    pub fn bounds(&self) -> Option<(i128, i128)> {
        if self.latency.count > 0 {
            return Some((self.latency.min.into(), self.latency.max.into()));
        }
        let told = self.told_bounds.iter().copied();
        let buckets = self.spread.buckets();
        let least = told.clone().min().or(buckets.first().map(|bucket| bucket.low));
        let greatest = told.max().or(buckets.last().map(|bucket| bucket.high));
        least.zip(greatest)
    }

    /// Mean time in nanoseconds.
    pub fn average(&self) -> i128 {
        let count = if self.latency.count > 0 { self.latency.count } else { self.count };
        self.total().checked_div(count.into()).unwrap_or(0)
    }

    /// The bounds between which the quantile `q` lies; equal where it is known (to a percent).
    pub fn quantile(&self, q: f64) -> Option<(i128, i128)> {
        if self.latency.count > 0 {
            let value = i128::from(self.latency.quantile(q));
            return Some((value, value));
        }
        self.spread.quantile(q).map(|bucket| (bucket.low, bucket.high))
    }
}

/// What is remembered of a statement: its class, its time, and whether it is known to lie inside another.
#[derive(Clone, Copy, Debug)]
struct Seen {
    class: usize,
    elapsed: u64,
    nested: bool,
}

/// Query records, folded.
#[derive(Default)]
pub struct Workload {
    /// Texts of databases and accounts.
    pub names: Names,
    /// Times of all statements.
    pub latency: Latency,
    /// Counts over time and latency.
    pub heat: Heat,
    /// When the first and the last statement ended.
    pub range: Option<(i64, i64)>,
    classes: Vec<Class>,
    recent: Recent<Seen>,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
    fingerprinter: Fingerprinter,
    key: Vec<u8>,
    account: String,
}

impl Workload {
    /// Adds one record.
    pub fn add(&mut self, query: &Query<'_>) {
        let (kind, at) = self.class_of(query);
        let database = query.database.as_deref().map(|name| self.names.text(name.as_bytes()));
        let user = self.account(query);
        if let Some(end) = query.end {
            let (first, last) = self.range.unwrap_or((end, end));
            self.range = Some((first.min(end), last.max(end)));
        }
        if let Some(elapsed) = query.elapsed {
            self.heat.add(query.end, elapsed);
            self.latency.add(elapsed);
        }
        self.nest(query, at);
        let Some(class) = self.classes.get_mut(at) else { return };
        class.count += 1;
        if let Some(elapsed) = query.elapsed {
            class.latency.add(elapsed);
        }
        if kind != ClassKind::Empty && (class.slowest.is_none() || query.elapsed > class.slowest) {
            class.slowest = query.elapsed.or(Some(0));
            set_sample(&mut class.sample, &query.text);
        }
        add(&mut class.lock_time, query.lock_time);
        for (sum, value) in class.rows.iter_mut().zip([query.rows_sent, query.rows_examined, query.rows_affected]) {
            add(sum, value);
        }
        add(&mut class.errors, query.status.map(|status| u64::from(status != 0)));
        class.cut += u64::from(query.cut);
        if query.kind == QueryKind::Routine {
            class.add_nested(query.elapsed.unwrap_or(0));
        }
        if let Some(database) = database {
            *class.databases.entry(database).or_default() += 1;
        }
        if let Some(user) = user {
            *class.users.entry(user).or_default() += 1;
        }
    }

    /// Finds the statements that lie inside this one.
    fn nest(&mut self, query: &Query<'_>, class: usize) {
        let seen = Seen { class, elapsed: query.elapsed.unwrap_or(0), nested: query.kind == QueryKind::Routine };
        let mut inside = 0u64;
        let classes = &mut self.classes;
        self.recent.add(query, seen, |inner| {
            inside = inside.saturating_add(inner.elapsed);
            if let Some(class) = classes.get_mut(inner.class).filter(|_| !inner.nested) {
                class.add_nested(inner.elapsed);
            }
        });
        if let Some(class) = self.classes.get_mut(class) {
            class.inside = class.inside.saturating_add(inside);
        }
    }

    fn account(&mut self, query: &Query<'_>) -> Option<NameId> {
        let (user, host) = (query.user.as_deref().unwrap_or(""), query.host.as_deref().unwrap_or(""));
        if user.is_empty() && host.is_empty() {
            return None;
        }
        self.account.clear();
        self.account.push_str(user);
        if !host.is_empty() {
            self.account.push('@');
            self.account.push_str(host);
        }
        Some(self.names.text(self.account.as_bytes()))
    }

    fn class_of(&mut self, query: &Query<'_>) -> (ClassKind, usize) {
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        let kind = if query.kind == QueryKind::Admin {
            key.extend_from_slice(b"administrator command: ");
            key.extend_from_slice(query.text.trim_end_matches(';').as_bytes());
            ClassKind::Admin
        } else {
            key.extend_from_slice(self.fingerprinter.fingerprint(query.text.as_bytes(), query.cut));
            if key.is_empty() { ClassKind::Empty } else { ClassKind::Sql }
        };
        let at = self.class_at(&key, kind);
        self.key = key;
        (kind, at)
    }

    /// The class of a statement's text that comes with an aggregated row.
    pub fn class_of_text(&mut self, text: &str) -> &mut Class {
        let key = self.fingerprinter.fingerprint(text.as_bytes(), false).to_vec();
        let kind = if key.is_empty() { ClassKind::Empty } else { ClassKind::Sql };
        let at = self.class_at(&key, kind);
        // class_at gives the number of a class that exists.
        #[allow(clippy::indexing_slicing)]
        let class = &mut self.classes[at];
        if class.sample.is_empty() {
            set_sample(&mut class.sample, text);
        }
        class
    }

    fn class_at(&mut self, key: &[u8], kind: ClassKind) -> usize {
        let hash = self.hasher.hash_one(key);
        let same = |&at: &u32| self.classes.get(at as usize).is_some_and(|class| class.fingerprint.as_bytes() == key);
        if let Some(&at) = self.index.find(hash, same) {
            return at as usize;
        }
        let at = u32::try_from(self.classes.len()).unwrap_or(u32::MAX);
        self.classes.push(Class::new(String::from_utf8_lossy(key).into_owned(), kind));
        let (classes, hasher) = (&self.classes, &self.hasher);
        self.index.insert_unique(hash, at, |&at| {
            hasher.hash_one(classes.get(at as usize).map_or(&b""[..], |class| class.fingerprint.as_bytes()))
        });
        at as usize
    }

    /// All classes, in order of first occurrence.
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// How many statements in all.
    pub fn count(&self) -> u64 {
        self.classes.iter().map(|class| class.count).sum()
    }

    /// How many statements ran inside others, and their time, which stands twice in the total.
    pub fn nested(&self) -> (u64, u64) {
        self.classes.iter().fold((0, 0), |sum, class| (sum.0 + class.nested.0, sum.1.saturating_add(class.nested.1)))
    }

    /// Whether no class is known as a distribution only.
    pub fn latency_is_exact(&self) -> bool {
        self.classes.iter().all(|class| class.spread.count() == 0)
    }

    /// Time of all statements in nanoseconds.
    pub fn total(&self) -> i128 {
        self.classes.iter().fold(0, |sum: i128, class| sum.saturating_add(class.total()))
    }
}

fn add(sum: &mut Option<u64>, value: Option<u64>) {
    if let Some(value) = value {
        *sum = Some(sum.unwrap_or(0).saturating_add(value));
    }
}

fn set_sample(sample: &mut String, text: &str) {
    sample.clear();
    let mut end = text.len().min(SAMPLE);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    sample.push_str(text.get(..end).unwrap_or(""));
    if end < text.len() {
        sample.push('…');
    }
}

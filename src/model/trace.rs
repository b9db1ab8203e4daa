//! A trace: everything that was read from the inputs of one command.
//!
//! Readers push into it in file order, through the methods below, and into its `heading`, `names` and `notes`; that is the whole contract
//! between `format` and the rest.

use super::diagnostic::Diagnostics;
use super::sieve::Sieve;
use super::{
    EventTable, FieldValue, Filter, Function, Heading, Key, KeyKind, NameId, Names, Notes, Passes, Query, Schema,
    Series, Severity, Value,
};
use super::{depth, verdict};
use crate::error::Result;
use crate::symbol::Cleaner;
use crate::units::Unit;

/// The number of a series in its trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesId(usize);

impl SeriesId {
    /// Its place among the series.
    pub fn index(self) -> usize {
        self.0
    }
}

/// Takes records as they are read, so that a log streams and memory stays flat.
pub trait Consumer {
    /// One query. `heading` holds what is known so far.
    fn query(&mut self, heading: &Heading, query: &Query<'_>) -> Result<()>;
    /// The reader has nothing more for now: show what there is.
    fn idle(&mut self) -> Result<()>;
    /// Reading has ended: show what else the trace holds, and end the output.
    fn finish(self: Box<Self>, trace: &Trace) -> Result<()>;
}

/// What stands for a stack without frames.
pub const NO_STACK: &str = "[no stack]";
/// The outermost frame of a stack that was cut at the depth limit.
pub const CUT_STACK: &str = "[stack cut]";

/// What headings say of the current pass.
#[derive(Default)]
struct Pass {
    /// How many have begun.
    number: u32,
    label: Option<NameId>,
    cumulative: Option<bool>,
}

/// Everything read from the inputs of one command.
#[derive(Default)]
pub struct Trace {
    /// What the inputs say of themselves.
    pub heading: Heading,
    /// Texts of keys and frames.
    pub names: Names,
    /// Aggregations.
    pub series: Vec<Series>,
    /// Query records in order; empty if a [`Consumer`] took them.
    pub queries: Vec<Query<'static>>,
    /// Other records by kind.
    pub events: Vec<EventTable>,
    /// What was lost, and what else to know.
    pub notes: Notes,
    /// How many query records were read and kept by the filter.
    pub query_count: u64,
    filter: Filter,
    /// The filter keeps everything as it is: asked once, not for every record.
    keeps_all: bool,
    sieve: Sieve,
    passes: Passes,
    pass: Pass,
    diagnostics: Diagnostics,
    consumer: Option<Box<dyn Consumer>>,
    input: String,
    /// When the first record ended.
    first_end: Option<i64>,
    left_out: LeftOut,
}

/// Query records that a filter took out.
#[derive(Default)]
struct LeftOut {
    count: u64,
    time: u64,
}

impl LeftOut {
    fn add(&mut self, query: &Query<'_>) {
        self.count += 1;
        self.time = self.time.saturating_add(query.elapsed.unwrap_or(0));
    }
}

impl Trace {
    /// How many aggregations, and kinds of records, may differ in more than their rows: they are looked for one by one.
    pub const SHAPES: usize = 1000;

    /// An empty trace.
    pub fn new(cleaner: Cleaner, filter: Filter, passes: Passes) -> Trace {
        Trace { names: Names::new(cleaner), keeps_all: filter.is_empty(), filter, passes, ..Trace::default() }
    }

    /// Hands query records to `consumer` in place of keeping them.
    pub fn stream_to(&mut self, consumer: Box<dyn Consumer>) {
        self.consumer = Some(consumer);
    }

    /// Ends the work of the consumer; whether there was one.
    pub fn finish_stream(&mut self) -> Result<bool> {
        match self.consumer.take() {
            Some(consumer) => consumer.finish(self).map(|()| true),
            None => Ok(false),
        }
    }

    /// Forgets the consumer, which took nothing.
    pub fn drop_stream(&mut self) {
        self.consumer = None;
    }

    /// Begins an input of that name; notes name it.
    pub fn begin_input(&mut self, name: &str) {
        self.end_dump();
        self.heading.inputs.push(name.to_owned());
        self.input = name.to_owned();
    }

    /// Begins a further dump in the same input: passes of the one before are settled.
    pub fn end_dump(&mut self) {
        self.pass = Pass { number: self.pass.number, ..Pass::default() };
        self.series.iter_mut().for_each(|series| series.end_dump(self.passes));
    }

    /// The series of that shape, made if there is none yet.
    pub fn series(
        &mut self,
        name: Option<&str>,
        function: Function,
        unit: Unit,
        keys: &[Key],
        has_stack: bool,
    ) -> SeriesId {
        let pass = (self.passes == Passes::Each).then(|| Key { name: Some("pass".into()), kind: KeyKind::Text });
        let same = |series: &Series| {
            series.name.as_deref() == name
                && series.function == function
                && series.unit == unit
                && series.has_stack == has_stack
                && series.keys.len() == keys.len().saturating_add(usize::from(pass.is_some()))
                && series.keys.ends_with(keys)
        };
        let found = self.series.iter().position(same);
        if found.is_none() && self.series.len() >= Trace::SHAPES {
            return SeriesId(usize::MAX);
        }
        let at = found.unwrap_or_else(|| {
            let keys = pass.iter().chain(keys).cloned().collect();
            self.series.push(Series::new(name.map(str::to_owned), function, unit, keys, has_stack));
            self.series.len().saturating_sub(1)
        });
        if let Some(series) = self.series.get_mut(at) {
            series.enter_pass(self.pass.number);
            if let Some(cumulative) = self.pass.cumulative {
                series.declare_cumulative(cumulative);
            }
        }
        SeriesId(at)
    }

    /// A series by number, for its depth and passes.
    pub fn series_mut(&mut self, id: SeriesId) -> Option<&mut Series> {
        self.series.get_mut(id.0)
    }

    /// A series by number.
    pub fn series_of(&self, id: SeriesId) -> Option<&Series> {
        self.series.get(id.0)
    }

    /// The next pass of one aggregation begins; for inputs whose aggregations have passes of their own.
    pub fn next_pass(&mut self, id: SeriesId) {
        if let Some(series) = self.series.get_mut(id.0) {
            series.next_pass();
        }
    }

    /// Adds a row. `stack` is outermost first; keys and frames are numbers from [`Trace::names`].
    pub fn row(&mut self, id: SeriesId, keys: &[NameId], stack: &[NameId], value: Value) {
        let Some(series) = self.series.get_mut(id.0) else {
            let weight = if let Value::Number(number) = value { number } else { 0 };
            let text = format!("row of more than {} aggregations, left out", Trace::SHAPES);
            self.notes.add(Severity::Loss, text, 1, weight, None);
            return;
        };
        let hidden;
        let keys = match &mut self.filter.anonymize {
            Some(anonymizer) => {
                hidden = anonymizer.keys(&series.keys, keys, &mut self.names);
                &hidden
            }
            None => keys,
        };
        let none = (series.has_stack && stack.is_empty()).then(|| [self.names.text(NO_STACK.as_bytes())]);
        let stack = none.as_ref().map_or(stack, |none| &none[..]);
        if self.passes != Passes::Each {
            return series.add(keys, stack, value);
        }
        let label = self.pass.label.unwrap_or_else(|| self.names.text(series.pass_number().to_string().as_bytes()));
        let keys: Vec<NameId> = std::iter::once(label).chain(keys.iter().copied()).collect();
        series.add(&keys, stack, value);
    }

    /// A query has been read.
    pub fn query(&mut self, query: Query<'_>) -> Result<()> {
        match &mut self.consumer {
            Some(consumer) if self.keeps_all => {
                self.query_count += 1;
                consumer.query(&self.heading, &query)
            }
            _ => self.filter_query(query),
        }
    }

    fn filter_query(&mut self, query: Query<'_>) -> Result<()> {
        if self.keeps_all {
            return self.keep_query(query);
        }
        let first = *self.first_end.get_or_insert(query.end.unwrap_or(0));
        if !self.filter.keeps_query(&query, &self.heading, first) {
            self.left_out.add(&query);
            return Ok(());
        }
        let query = match &self.filter.anonymize {
            Some(anonymizer) => anonymizer.query(query),
            None => query,
        };
        self.keep_query(query)
    }

    fn keep_query(&mut self, query: Query<'_>) -> Result<()> {
        self.query_count += 1;
        match &mut self.consumer {
            Some(consumer) => consumer.query(&self.heading, &query),
            None => {
                self.queries.push(query.into_owned());
                Ok(())
            }
        }
    }

    /// Leaves out the records that lie inside others, if that was asked for, and says what filters took out.
    fn settle_queries(&mut self) {
        if self.filter.queries.top_level_only {
            let mut keep = super::nesting::top_level(&self.queries).into_iter();
            let left_out = &mut self.left_out;
            self.queries.retain(|query| {
                let keep = keep.next().unwrap_or(true);
                if !keep {
                    left_out.add(query);
                }
                keep
            });
            self.query_count = u64::try_from(self.queries.len()).unwrap_or(u64::MAX);
        }
        let LeftOut { count, time } = std::mem::take(&mut self.left_out);
        if count > 0 {
            let (milli, micro) = (time / 1_000_000, time / 1000 % 1000);
            self.notes.info(format!("{count} query records left out by filters, together {milli}.{micro:03} ms"));
        }
    }

    /// A record of another kind has been read. `values` are as many as `schema.fields`.
    pub fn event(&mut self, schema: &Schema, values: Vec<FieldValue>) {
        if !self.sieve.keeps_event(&self.filter, schema, &values) {
            return;
        }
        let values = match &self.filter.anonymize {
            Some(anonymizer) => anonymizer.event(schema, values),
            None => values,
        };
        let is_full = self.events.len() >= Trace::SHAPES;
        match self.events.iter_mut().find(|table| table.schema == *schema) {
            Some(table) => table.rows.push(values),
            None if is_full => {
                self.losses(format!("record of more than {} kinds, left out", Trace::SHAPES), 1);
            }
            None => self.events.push(EventTable { schema: schema.clone(), rows: vec![values] }),
        }
    }

    /// The reader waits for more input: streams show what they have.
    pub fn idle(&mut self) -> Result<()> {
        self.consumer.as_mut().map_or(Ok(()), |consumer| consumer.idle())
    }

    /// A pass begins: every aggregation that is declared after it in this dump belongs to it; one that is not (another script's) has no part in it. `label` is its number or time; `cumulative` is what the
    /// input says of its passes.
    pub fn begin_pass(&mut self, label: &str, cumulative: Option<bool>) {
        let number = self.pass.number.saturating_add(1);
        self.pass = Pass { number, label: Some(self.names.text(label.as_bytes())), cumulative };
    }

    /// Takes a message of DTrace itself, without its `dtrace: `: drops are summed up, all are told at the end.
    pub fn diagnostic(&mut self, text: &str) {
        self.diagnostics.add(text);
    }

    /// Notes a loss at a line of the current input.
    pub fn loss(&mut self, text: impl Into<String>, line: u64) {
        let place = format!("{}:{line}", self.input);
        self.notes.loss(text, Some(place));
    }

    /// Notes `count` losses that have no line.
    pub fn losses(&mut self, text: impl Into<String>, count: u64) {
        self.notes.add(Severity::Loss, text.into(), count, 0, None);
    }

    /// Ends reading: passes are settled, and what the whole tells is noted.
    pub fn finish(&mut self) {
        self.end_dump();
        self.settle_queries();
        self.diagnostics.tell(&mut self.notes);
        depth::mark(&mut self.series, &mut self.names, &mut self.notes);
        self.sieve.finish(&self.filter, &self.names, &mut self.series, &mut self.notes);
        verdict::tell(&self.series, &self.names, &mut self.notes);
        let replaced = self.names.replaced();
        if replaced > 0 {
            self.notes.info(format!("{replaced} names hold bytes that are not UTF-8, shown as U+FFFD"));
        }
    }

    /// Why there is nothing to show, as far as the notes tell; empty if they do not.
    pub fn why_empty(&self) -> String {
        self.notes.iter().map(|note| format!("; {note}")).collect()
    }

    /// Whether nothing was read that a view could show.
    pub fn is_empty(&self) -> bool {
        self.query_count == 0
            && self.events.iter().all(|table| table.rows.is_empty())
            && self.series.iter().all(Series::is_empty)
    }

    /// Name of the input that is being read.
    pub fn input(&self) -> &str {
        &self.input
    }

    /// How passes are to be shown.
    pub fn passes(&self) -> Passes {
        self.passes
    }
}

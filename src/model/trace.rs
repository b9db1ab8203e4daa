//! A trace: everything that was read from the inputs of one command.
//!
//! Readers push into it in file order, through the methods below; that is the whole contract between `format` and the rest.

use super::{
    EventTable, Field, FieldValue, Filter, Function, Heading, Key, NameId, Names, Notes, Passes, Query, Schema, Series,
    Severity, Value,
};
use crate::error::Result;
use crate::symbol::Cleaner;
use crate::units::Unit;

/// The number of a series in its trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesId(usize);

/// Takes records as they are read, so that a log streams and memory stays flat.
pub trait Consumer {
    /// One query. `heading` holds what is known so far.
    fn query(&mut self, heading: &Heading, query: &Query<'_>) -> Result<()>;
    /// The reader has nothing more for now: show what there is.
    fn idle(&mut self) -> Result<()>;
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
    passes: Passes,
    pass_key: Option<NameId>,
    consumer: Option<Box<dyn Consumer>>,
    input: String,
}

impl Trace {
    /// An empty trace.
    pub fn new(cleaner: Cleaner, filter: Filter, passes: Passes) -> Trace {
        Trace { names: Names::new(cleaner), filter, passes, ..Trace::default() }
    }

    /// Hands query records to `consumer` in place of keeping them.
    pub fn stream_to(&mut self, consumer: Box<dyn Consumer>) {
        self.consumer = Some(consumer);
    }

    /// Begins an input of that name; notes name it.
    pub fn begin_input(&mut self, name: &str) {
        self.end_dump();
        self.heading.inputs.push(name.to_owned());
        self.input = name.to_owned();
    }

    /// Begins a further dump in the same input: passes of the one before are settled.
    pub fn end_dump(&mut self) {
        self.pass_key = None;
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
        let found = self.series.iter().position(|series| {
            series.name.as_deref() == name
                && series.function == function
                && series.unit == unit
                && series.keys == keys
                && series.has_stack == has_stack
        });
        SeriesId(found.unwrap_or_else(|| {
            self.series.push(Series::new(name.map(str::to_owned), function, unit, keys.to_vec(), has_stack));
            self.series.len() - 1
        }))
    }

    /// A series by number, for its depth and passes.
    pub fn series_mut(&mut self, id: SeriesId) -> Option<&mut Series> {
        self.series.get_mut(id.0)
    }

    /// Adds a row. `stack` is outermost first; keys and frames are numbers from [`Trace::names`].
    pub fn row(&mut self, id: SeriesId, keys: &[NameId], stack: &[NameId], value: Value) {
        // TODO(filters): applied here, once, for every format.
        if let Some(series) = self.series.get_mut(id.0) {
            series.add(keys, stack, value);
        }
    }

    /// A query has been read.
    pub fn query(&mut self, query: Query<'_>) -> Result<()> {
        self.query_count += 1;
        match &mut self.consumer {
            Some(consumer) => consumer.query(&self.heading, &query),
            None => {
                self.queries.push(query.into_owned());
                Ok(())
            }
        }
    }

    /// A record of another kind has been read. `values` are as many as `schema.fields`.
    pub fn event(&mut self, schema: &Schema, values: Vec<FieldValue>) {
        match self.events.iter_mut().find(|table| table.schema == *schema) {
            Some(table) => table.rows.push(values),
            None => self.events.push(EventTable { schema: schema.clone(), rows: vec![values] }),
        }
    }

    /// The reader waits for more input: streams show what they have.
    pub fn idle(&mut self) -> Result<()> {
        self.consumer.as_mut().map_or(Ok(()), |consumer| consumer.idle())
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
        let replaced = self.names.replaced();
        if replaced > 0 {
            self.notes.info(format!("{replaced} names hold bytes that are not UTF-8, shown as U+FFFD"));
        }
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

impl Field {
    /// Whether the field is a number.
    pub fn is_number(&self) -> bool {
        self.kind != super::FieldType::Text
    }
}

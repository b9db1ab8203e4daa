//! The digest: statements by fingerprint, the most expensive first, with how often, how long and how spread.
//!
//! Its total is that of all records that were read: administrator commands and statements without text have lines of their own, and
//! what `--top` leaves out is one line.

mod data;
mod table;

use std::cmp::Reverse;
use std::io::Write;

use super::{Options, Sort, View};
use crate::error::Result;
use crate::model::{Class, ClassKind, Consumer, Heading, Query, Trace, Workload};

/// Entry in the table of views.
pub(super) const TABLE: View = View {
    name: "digest",
    extensions: &[],
    about: "statements by fingerprint: count, time, spread, rows; with -o x.json or x.csv in that form",
    write: write_digest,
    stream: Some(|options, out| Fold::stream(options, out, digest)),
};
/// Entry in the table of views.
pub(super) const JSON: View = View {
    name: "digest-json",
    extensions: &[],
    about: "the digest, one JSON object a line",
    write: write_json,
    stream: Some(|options, out| Fold::stream(options, out, data::json)),
};
/// Entry in the table of views.
pub(super) const CSV: View = View {
    name: "digest-csv",
    extensions: &[],
    about: "the digest as comma-separated values",
    write: write_csv,
    stream: Some(|options, out| Fold::stream(options, out, data::csv)),
};

/// Options of the digest.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Tables")]
pub struct DigestOptions {
    /// So many rows of a digest (20 in a table), of top or of a difference (40); 0: all
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
}

/// What a digest is made of.
pub(super) type Render = fn(&Workload, &[String], &Trace, &Options, &mut dyn Write) -> Result<()>;

/// Folds records while they are read, and renders the sum at the end.
pub(super) struct Fold {
    workload: Workload,
    options: Options,
    out: Box<dyn Write>,
    render: Render,
}

impl Fold {
    /// A consumer for a view that shows a workload.
    pub(super) fn stream(options: &Options, out: Box<dyn Write>, render: Render) -> Box<dyn Consumer> {
        Box::new(Fold { workload: Workload::default(), options: options.clone(), out, render })
    }
}

impl Consumer for Fold {
    fn query(&mut self, _heading: &Heading, query: &Query<'_>) -> Result<()> {
        self.workload.add(query);
        Ok(())
    }

    fn idle(&mut self) -> Result<()> {
        Ok(())
    }

    fn finish(mut self: Box<Self>, trace: &Trace) -> Result<()> {
        let said = self.workload.join(trace);
        (self.render)(&self.workload, &said, trace, &self.options, &mut self.out)
    }
}

/// Renders what a trace holds, for views that were chosen after reading.
pub(super) fn fold(trace: &Trace, options: &Options, out: &mut dyn Write, render: Render) -> Result<()> {
    let mut workload = Workload::default();
    trace.queries.iter().for_each(|query| workload.add(query));
    let said = workload.join(trace);
    render(&workload, &said, trace, options, out)
}

fn write_digest(trace: &Trace, options: &Options, out: &mut dyn Write) -> Result<()> {
    fold(trace, options, out, digest)
}

fn write_json(trace: &Trace, options: &Options, out: &mut dyn Write) -> Result<()> {
    fold(trace, options, out, data::json)
}

fn write_csv(trace: &Trace, options: &Options, out: &mut dyn Write) -> Result<()> {
    fold(trace, options, out, data::csv)
}

/// The form that the name of the output asks for.
fn digest(workload: &Workload, said: &[String], trace: &Trace, options: &Options, out: &mut dyn Write) -> Result<()> {
    match options.extension.as_deref() {
        Some("json" | "jsonl") => data::json(workload, said, trace, options, out),
        Some("csv") => data::csv(workload, said, trace, options, out),
        _ => table::table(workload, said, trace, options, out),
    }
}

/// The classes in order, SQL first, then what is none; ties by fingerprint.
pub(super) fn ranked(workload: &Workload, sort: Option<Sort>) -> Vec<&Class> {
    let mut classes: Vec<&Class> = workload.classes().iter().collect();
    let key = |class: &Class| -> i128 {
        match sort.unwrap_or(Sort::Total) {
            Sort::Total | Sort::Time => class.total(),
            Sort::Count => class.count.into(),
            Sort::Avg => class.average(),
            Sort::P95 => class.quantile(0.95).map_or(0, |bounds| bounds.1),
            Sort::Max => class.bounds().map_or(0, |bounds| bounds.1),
            Sort::Rows => class.rows.get(1).copied().flatten().unwrap_or(0).into(),
            Sort::Errors => class.errors.unwrap_or(0).into(),
        }
    };
    classes.sort_by_cached_key(|class| (class.kind, Reverse(key(class)), class.fingerprint.clone()));
    classes
}

/// What a class that is no SQL is called.
pub(super) fn name(class: &Class) -> &str {
    if class.kind == ClassKind::Empty { "(no statement text)" } else { &class.fingerprint }
}

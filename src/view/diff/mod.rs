//! The difference of two traces of one kind and unit: stacks, rows by key, distributions.
//!
//! What did not change is not shown in tables and JSON, so that the difference of a trace and itself is empty. In a picture it is white.

mod distributions;
mod stacks;

use std::io::Write;
use std::path::Path;

use super::{Options, extension, has_stacks, write_notes};
use crate::error::{Error, Result};
use crate::model::Trace;

/// How two traces are compared.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Compare {
    /// Shape of the picture: widths of BEFORE, of AFTER, or room for both, so that nothing is missing
    #[arg(long, value_name = "SIDE", default_value = "both", hide_default_value = true)]
    pub show: Side,
    /// Scale BEFORE to the total of AFTER: for runs of different length
    #[arg(long)]
    pub normalize: bool,
    /// Colour frames by their self weight in place of the whole
    #[arg(long = "self")]
    pub by_self: bool,
}

/// Whose widths a picture has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Side {
    /// BEFORE's: what is new has no place.
    Before,
    /// AFTER's: what is gone has no place.
    After,
    /// Room for the larger of both.
    #[default]
    Both,
}

/// Two traces to compare, and how.
pub struct Comparison<'a> {
    /// The first.
    pub before: &'a Trace,
    /// The second.
    pub after: &'a Trace,
    /// Options of all views.
    pub options: &'a Options,
    /// Options of the comparison.
    pub compare: &'a Compare,
}

/// Forms of a difference.
const FORMS: &[&str] = &["table", "flame", "icicle", "json", "folded"];

/// What the traces hold that can be compared.
enum Kind {
    Queries,
    Stacks,
    Distributions,
}

impl Comparison<'_> {
    /// Writes the difference in the form that is asked for, by name or by the extension of the output; else as a table.
    pub fn write(&self, form: Option<&str>, output: Option<&Path>, out: &mut dyn Write) -> Result<()> {
        let form = match (form, extension(output)) {
            (Some(form), _) => form,
            (None, Some("svg")) => "flame",
            (None, Some("json" | "jsonl")) => "json",
            (None, Some("folded")) => "folded",
            _ => "table",
        };
        if !FORMS.contains(&form) {
            return Err(Error::Usage(format!("diff -f {form}: no such form; there are {}", FORMS.join(", "))));
        }
        match (self.kind()?, form) {
            (Kind::Queries, form) => {
                super::query_diff::write(self.before, self.after, form, self.options, out)?;
                if form == "table" { self.write_all_notes(out) } else { Ok(()) }
            }
            (Kind::Stacks, form) => stacks::write(self, form, out),
            (Kind::Distributions, "table") => distributions::write_table(self, out),
            (Kind::Distributions, "json") => distributions::write_json(self, out),
            (Kind::Distributions, form) => {
                Err(Error::Usage(format!("distributions are compared bucket by bucket: -f table or json, not {form}")))
            }
        }
    }

    /// The kind that both hold. One side may be empty.
    fn kind(&self) -> Result<Kind> {
        let of = |trace: &Trace| {
            let filled = || trace.series.iter().filter(|series| !series.is_empty());
            if trace.query_count > 0 {
                Some(0)
            } else if has_stacks(trace) || filled().any(|series| !series.is_distribution()) {
                Some(1)
            } else {
                filled().next().map(|_| 2)
            }
        };
        match (of(self.before), of(self.after)) {
            (None, None) => Err(Error::Usage("both are empty: there is nothing to compare".into())),
            (Some(before), Some(after)) if before != after => {
                let name = |kind| ["queries", "stacks or rows", "distributions"].get(kind).copied().unwrap_or("");
                let told = format!("BEFORE holds {}, AFTER holds {}", name(before), name(after));
                Err(Error::Usage(format!("{told}: only two of one kind can be compared")))
            }
            (Some(0), _) | (_, Some(0)) => Ok(Kind::Queries),
            (Some(1), _) | (_, Some(1)) => Ok(Kind::Stacks),
            _ => Ok(Kind::Distributions),
        }
    }

    fn write_all_notes(&self, out: &mut dyn Write) -> Result<()> {
        write_notes(self.before, out)?;
        write_notes(self.after, out)
    }
}

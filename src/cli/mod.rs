//! The command line: five verbs, one idea: a source and a view.

mod doctor;
mod replay;
mod run;
mod scripts;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::error::{Error, Result};
use crate::model::{Passes, Severity, Trace};
use crate::{model, output::Output, symbol, units, view};

/// What people see with `--help`.
#[derive(Parser)]
#[command(
    name = "seatrace",
    version,
    about = "Query-time logs, digests and flame graphs of MariaDB and MySQL, from DTrace or from saved files",
    max_term_width = 100
)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
    /// Fail (exit 1) if anything was lost on the way
    #[arg(long, global = true)]
    strict: bool,
    /// Say only errors
    #[arg(short, long, global = true)]
    quiet: bool,
}

#[derive(Subcommand)]
enum Verb {
    /// Show a saved file: a seatrace dump, the output of dtrace(1), or of another tool
    #[command(after_long_help = replay::EXAMPLES)]
    Replay(replay::Replay),
    /// Trace a running server, or a command, with a bundled script or your own
    #[command(after_long_help = run::EXAMPLES)]
    Run(run::Run),
    /// List the bundled scripts, show the page of one, or its D program
    #[command(after_long_help = scripts::EXAMPLES)]
    Scripts(scripts::Scripts),
    /// Tell what works on this system and server, what does not, and what to do
    #[command(after_long_help = doctor::EXAMPLES)]
    Doctor(doctor::Doctor),
}

/// How results are shown: the same for every verb that shows any.
#[derive(Args)]
pub(crate) struct Show {
    /// View: log, folded, flame, hist, json, …; default: what suits the data or the name of -o
    #[arg(short, long = "format", value_name = "VIEW")]
    format: Option<String>,
    /// Write to FILE in place of standard output; its extension implies the view
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    select: Select,
    #[command(flatten)]
    options: view::Options,
}

/// What of the data is shown.
#[derive(Args)]
struct Select {
    /// Keep only stacks and queries that match
    #[arg(long, value_name = "REGEX")]
    only: Vec<regex::Regex>,
    /// Leave out stacks and queries that match
    #[arg(long, value_name = "REGEX")]
    without: Vec<regex::Regex>,
    /// Keep what took at least that long
    #[arg(long, value_name = "TIME", value_parser = units::parse_duration)]
    min: Option<std::time::Duration>,
    /// Keep rows and records with that key or field
    #[arg(long = "key", value_name = "NAME=VALUE", value_parser = name_and_value)]
    keys: Vec<(String, String)>,
    /// Take a key off the rows
    #[arg(long, value_name = "NAME")]
    drop_key: Vec<String>,
    /// Begin stacks at the first frame that matches
    #[arg(long, value_name = "REGEX")]
    root: Option<regex::Regex>,
    /// Which of several passes to show: auto, sum, last or each
    #[arg(long, value_name = "WHICH", default_value = "auto", value_parser = passes, hide_default_value = true)]
    passes: Passes,
    /// Keep parameter lists of C++ functions
    #[arg(long)]
    params: bool,
    /// Keep offsets inside functions
    #[arg(long)]
    offsets: bool,
    /// What to do with frames without symbols: merge or keep
    #[arg(long, value_name = "HOW", default_value = "merge", value_parser = ["merge", "keep"], hide_default_value = true)]
    addresses: String,
}

fn name_and_value(text: &str) -> std::result::Result<(String, String), String> {
    text.split_once('=')
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .ok_or_else(|| "write it as NAME=VALUE".into())
}

fn passes(text: &str) -> std::result::Result<Passes, String> {
    match text {
        "auto" => Ok(Passes::Auto),
        "sum" => Ok(Passes::Sum),
        "last" => Ok(Passes::Last),
        "each" => Ok(Passes::Each),
        _ => Err("use auto, sum, last or each".into()),
    }
}

impl Show {
    /// An empty trace that keeps and cleans what the options ask for.
    pub(crate) fn trace(&self) -> Trace {
        let select = &self.select;
        let cleaner = symbol::Cleaner {
            params: select.params,
            addresses: select.addresses == "keep",
            offsets: select.offsets,
            hashes: false,
        };
        let filter = model::Filter {
            only: select.only.clone(),
            without: select.without.clone(),
            min: select.min.map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)),
            keys: select.keys.clone(),
            drop_keys: select.drop_key.clone(),
            root: select.root.clone(),
        };
        Trace::new(cleaner, filter, select.passes)
    }

    /// Whether the command line asks for a view, by name or by a file's extension.
    pub(crate) fn names_a_view(&self) -> bool {
        self.format.is_some() || self.output.is_some()
    }

    /// Shows a finished trace.
    pub(crate) fn show(&self, trace: &Trace) -> Result<()> {
        let view = view::choose(self.format.as_deref(), self.output.as_deref(), trace)?;
        let mut out = Output::create(self.output.as_deref())?;
        (view.write)(trace, &self.options, &mut out)?;
        out.finish()
    }
}

/// Parses the arguments and runs the verb; what comes back is the exit status.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> anyhow::Result<ExitCode> {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            error.print()?;
            return Ok(ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2)));
        }
    };
    let (trace, code) = match &cli.verb {
        Verb::Replay(replay) => (replay.run()?, ExitCode::SUCCESS),
        Verb::Run(run) => run.run(cli.quiet).map(|finished| (finished.trace, finished.code))?,
        Verb::Scripts(scripts) => return Ok(scripts.run().map(|()| ExitCode::SUCCESS)?),
        Verb::Doctor(doctor) => return Ok(doctor.run()?),
    };
    say(&cli, &trace)?;
    Ok(code)
}

/// Says the notes on standard error. With --strict a loss is an error.
fn say(cli: &Cli, trace: &Trace) -> Result<()> {
    if !cli.quiet {
        for note in trace.notes.iter() {
            let word = if note.severity == Severity::Loss { "warning" } else { "note" };
            eprintln!("seatrace: {word}: {note}");
        }
    }
    match trace.notes.losses().count() {
        losses if cli.strict && losses > 0 => Err(Error::Strict(losses)),
        _ => Ok(()),
    }
}

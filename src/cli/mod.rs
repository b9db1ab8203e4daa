//! The command line: a few verbs, one idea: a source and a view.

mod diff;
mod doctor;
mod manual;
mod replay;
mod run;
mod scripts;
mod select;
mod sql;

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::error::{Error, Result};
use crate::input::Ahead;
use crate::model::{Passes, Trace};
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
    #[command(after_long_help = replay::help())]
    Replay(replay::Replay),
    /// Trace a running server, or a command, with a bundled script or your own
    #[command(after_long_help = run::EXAMPLES)]
    Run(run::Run),
    /// Compare two saved files of one kind: queries, stacks, rows by key or distributions
    #[command(after_long_help = diff::EXAMPLES)]
    Diff(diff::Diff),
    /// Print statements that export performance_schema for replay
    #[command(after_long_help = sql::EXAMPLES)]
    Sql(sql::Sql),
    /// List the bundled scripts, show the page of one, or its D program
    #[command(after_long_help = scripts::EXAMPLES)]
    Scripts(scripts::Scripts),
    /// Tell what works on this system and server, what does not, and what to do
    #[command(after_long_help = doctor::EXAMPLES)]
    Doctor(doctor::Doctor),
    /// Print the completion script of a shell
    Completions(manual::Completions),
    /// Print the manual page, or that of a verb
    Man(manual::Man),
}

/// How results are shown: the same for every verb that shows any.
#[derive(Args)]
pub(crate) struct Show {
    /// How to show it (the names stand below, or under `replay --help`); default: what suits the data or the name of -o
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

/// How saved files are read.
#[derive(Args)]
struct Threads {
    /// Threads that read a text of dtrace(1): 2 (more are 2) take less time for a large one and more of the processors; default: 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), default_value = "1", hide_default_value = true)]
    threads: u16,
}

impl Threads {
    /// How to read ahead, with more than one.
    fn ahead(&self) -> Option<Ahead> {
        (self.threads > 1).then(Ahead::default)
    }
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
    #[arg(long, value_name = "REGEX", help_heading = "Stacks")]
    root: Option<regex::Regex>,
    /// Which of several passes to show: auto, sum, last or each
    #[arg(long, value_name = "WHICH", default_value = "auto", value_parser = passes, hide_default_value = true)]
    passes: Passes,
    /// Keep parameter lists of C++ functions
    #[arg(long, help_heading = "Stacks")]
    params: bool,
    /// Keep offsets inside functions
    #[arg(long, help_heading = "Stacks")]
    offsets: bool,
    #[command(flatten)]
    queries: select::Queries,
    /// What to do with frames without symbols: merge or keep
    #[arg(long, value_name = "HOW", default_value = "merge", value_parser = ["merge", "keep"], hide_default_value = true, help_heading = "Stacks")]
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
    /// Whether the terminal is free to tell progress on: results do not go there at the same time.
    pub(crate) fn leaves_terminal(&self) -> bool {
        self.output.as_ref().is_some_and(|path| path.as_os_str() != "-") || !io::stdout().is_terminal()
    }

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
            queries: select.queries.selection(),
            anonymize: select.queries.anonymizer(),
        };
        Trace::new(cleaner, filter, select.passes)
    }

    /// Whether the command line asks for a view, by name or by a file's extension.
    pub(crate) fn names_a_view(&self) -> bool {
        self.format.is_some() || self.output.is_some()
    }

    /// Names the output where the command line does not.
    pub(crate) fn write_to(&mut self, name: &str) {
        if !self.names_a_view() {
            self.output = Some(name.into());
        }
    }

    /// Opens the output, and tells the views about it.
    fn open(&self) -> Result<(Output, view::Options)> {
        let out = Output::create(self.output.as_deref())?;
        let mut options = self.options.clone();
        options.columns = terminal_columns(&out);
        let extension = self.output.as_deref().and_then(std::path::Path::extension);
        options.extension = extension.and_then(|extension| extension.to_str()).map(str::to_owned);
        Ok((out, options))
    }

    /// Opens the output before anything is read, so that a wrong place fails at once; records then go to it as they come, where the view can.
    pub(crate) fn begin(&self, trace: &mut Trace) -> Result<Showing<'_>> {
        let view = view::asked_for(self.format.as_deref(), self.output.as_deref())?;
        let (out, options) = self.open()?;
        let out = Rc::new(RefCell::new(out));
        let streams = view.or_else(|| view::of_records(self.output.as_deref())).and_then(|view| view.stream);
        if let Some(stream) =
            streams.filter(|_| options.sort != Some(view::Sort::Time) && !self.select.queries.top_level_only)
        {
            trace.stream_to(stream(&options, Box::new(Shared(Rc::clone(&out)))));
        }
        Ok(Showing { show: self, options, is_named: view.is_some(), out })
    }
}

/// A view in the making.
pub(crate) struct Showing<'a> {
    show: &'a Show,
    options: view::Options,
    /// The view is asked for, and does not depend on the data.
    is_named: bool,
    out: Rc<RefCell<Output>>,
}

impl Showing<'_> {
    /// Shows a finished trace, or what a stream has not shown of it.
    pub(crate) fn end(self, trace: &mut Trace) -> Result<()> {
        if self.is_named || trace.query_count > 0 {
            if trace.finish_stream()? {
                return self.finish();
            }
        } else {
            trace.drop_stream();
        }
        let view = view::choose(self.show.format.as_deref(), self.show.output.as_deref(), trace)?;
        view::note_left_out(view, trace, &self.options);
        (view.write)(trace, &self.options, &mut *self.out.borrow_mut())?;
        self.finish()
    }

    fn finish(self) -> Result<()> {
        // The stream is gone, and with it the only other owner.
        Rc::into_inner(self.out).map_or(Ok(()), |out| out.into_inner().finish())
    }
}

/// The output, for a stream that does not end it.
struct Shared(Rc<RefCell<Output>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.borrow_mut().flush()
    }
}

/// Columns of the terminal that the output goes to, if it does.
fn terminal_columns(out: &Output) -> Option<usize> {
    match out {
        Output::Stdout(_) if io::stdout().is_terminal() => {
            Some(terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0)))
        }
        _ => None,
    }
}

/// The command line. Options that a script shares with the views (`--min`, `--user`) are taken for the script first: clap's derived code
/// takes what it reads out of the matches.
fn parse(arguments: impl IntoIterator<Item = OsString>) -> std::result::Result<Cli, clap::Error> {
    let mut command = Cli::command();
    let mut matches = command.try_get_matches_from_mut(arguments)?;
    let own = matches.subcommand().map(|(_, matches)| run::ScriptArgs::from_arg_matches(matches)).transpose()?;
    let mut cli = Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))?;
    if let (Verb::Run(run), Some(own)) = (&mut cli.verb, own) {
        run.take_script_args(own);
    }
    Ok(cli)
}

/// Parses the arguments and runs the verb; what comes back is the exit status.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> anyhow::Result<ExitCode> {
    let mut cli = match parse(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            error.print()?;
            return Ok(ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2)));
        }
    };
    if let Verb::Run(run) = &mut cli.verb {
        run.settle();
    }
    let (trace, code) = match &cli.verb {
        Verb::Replay(replay) => (replay.run(cli.quiet)?, ExitCode::SUCCESS),
        Verb::Diff(diff) => (diff.run(cli.quiet)?, ExitCode::SUCCESS),
        Verb::Sql(sql) => return Ok(sql.run().map(|()| ExitCode::SUCCESS)?),
        Verb::Run(run) => run.run(cli.quiet).map(|finished| (finished.trace, finished.code))?,
        Verb::Scripts(scripts) => return Ok(scripts.run().map(|()| ExitCode::SUCCESS)?),
        Verb::Doctor(doctor) => return Ok(doctor.run()?),
        Verb::Completions(completions) => return Ok(completions.run().map(|()| ExitCode::SUCCESS)?),
        Verb::Man(man) => return Ok(man.run().map(|()| ExitCode::SUCCESS)?),
    };
    say(&cli, &trace)?;
    Ok(code)
}

/// Says the notes on standard error. With --strict a loss is an error.
fn say(cli: &Cli, trace: &Trace) -> Result<()> {
    if !cli.quiet {
        for note in trace.notes.iter() {
            eprintln!("seatrace: {}: {}", note.severity.word(), view::harmless(&note.to_string()));
        }
    }
    match trace.notes.losses().count() {
        losses if cli.strict && losses > 0 => Err(Error::Strict(losses)),
        _ => Ok(()),
    }
}

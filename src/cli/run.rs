//! `seatrace run`: a live trace, shown as `replay` shows a saved one.

mod choice;
mod save;
mod script_args;
mod start;
mod status;

use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clap::Args;

use super::{Show, Showing};
use crate::error::{Error, Result};
use crate::format;
use crate::input::Input;
use crate::live::{Ended, Failure, LiveError, Report, SecondSignal, Session, Text, signals_received};
use crate::model::Trace;
use crate::units;
use crate::view;
use save::Save;
pub(super) use script_args::ScriptArgs;
use start::{Job, Start};
use status::Status;

/// Shown by `seatrace run --help`; tests run them.
pub(super) const EXAMPLES: &str = "Examples:
  seatrace run query-time -p 4242
  seatrace run query-time --min 100ms -d 30s --save slow.dump
  seatrace run on-cpu --name mariadbd -d 10s -o on-cpu.svg
  seatrace run query-time -- mariadbd --no-defaults --datadir=\"my data\"
  seatrace run -s mine.d -p 4242 -x strsize=1024
  seatrace run on-cpu --rate 97 --print
  seatrace run report -d 30s --save report.dump

Ctrl-C ends the trace and shows what it has; a second one stops the output.";

/// `seatrace run SCRIPT`
#[derive(Args)]
pub(super) struct Run {
    /// A bundled script (see `seatrace scripts`); or use -s
    #[arg(value_name = "SCRIPT", required_unless_present = "source", conflicts_with = "source")]
    script: Option<String>,
    /// Run the D program in FILE
    #[arg(short = 's', long = "source", value_name = "FILE")]
    source: Option<PathBuf>,
    /// A macro argument ($1, $2, …) of the program in -s
    #[arg(long = "arg", value_name = "TEXT", requires = "source")]
    arguments: Vec<String>,
    #[command(flatten)]
    target: TargetArgs,
    /// End the trace after TIME; default: with Ctrl-C, or with the process
    #[arg(short, long, value_name = "TIME", value_parser = units::parse_duration)]
    duration: Option<Duration>,
    /// Keep what DTrace prints in DUMP, for `replay`
    #[arg(long, value_name = "DUMP")]
    save: Option<PathBuf>,
    /// Set an option of DTrace, as dtrace -x
    #[arg(short = 'x', value_name = "OPT[=VAL]", value_parser = dtrace_option)]
    options: Vec<(String, Option<String>)>,
    /// Where traces come from: library, or dtrace for the system's dtrace(1); default: library, then dtrace
    #[arg(long, value_name = "SOURCE", value_parser = ["library", "dtrace"])]
    via: Option<String>,
    /// Show the D program as it would run, and exit
    #[arg(long)]
    print: bool,
    #[command(flatten)]
    show: Show,
    #[command(flatten)]
    script_args: ScriptArgs,
}

/// What is traced; at most one.
#[derive(Args)]
#[group(multiple = false)]
struct TargetArgs {
    /// Trace the process PID
    #[arg(short, long, value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pid: Option<i32>,
    /// Trace the process whose executable is called NAME; default: mariadbd, then mysqld
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Start CMD, split at blanks, and trace it
    #[arg(short = 'c', long = "command", value_name = "CMD")]
    command: Option<String>,
    /// Start CMD with these arguments and trace it
    #[arg(last = true, value_name = "CMD")]
    words: Vec<String>,
}

/// `-x OPT=VAL` or `-x OPT`.
pub(super) fn dtrace_option(text: &str) -> std::result::Result<(String, Option<String>), String> {
    match text.split_once('=') {
        Some(("", _)) => Err("write it as OPT=VAL".into()),
        Some((name, value)) => Ok((name.to_owned(), Some(value.to_owned()))),
        None => Ok((text.to_owned(), None)),
    }
}

/// A finished run: what was read, and the status to exit with if nothing else is wrong.
pub(super) struct Finished {
    pub trace: Trace,
    pub code: ExitCode,
}

/// The script that makes a file for a browser: without a view named, that file is what it is for.
const REPORT: (&str, &str) = ("report", "report.html");

impl Run {
    /// The options for the script, read before the views took theirs.
    pub(super) fn take_script_args(&mut self, given: ScriptArgs) {
        self.script_args = given;
    }

    /// Fills in what depends on the script.
    pub(super) fn settle(&mut self) {
        if self.script.as_deref() == Some(REPORT.0) {
            self.show.write_to(REPORT.1);
        }
    }

    /// What the text is called in notes: what `replay` would call it.
    fn input_name<'a>(&self, job: &'a Job) -> Cow<'a, str> {
        match &self.save {
            Some(path) => Cow::Owned(path.display().to_string()),
            None => Cow::Borrowed(&job.name),
        }
    }

    /// Traces until something ends it, and shows the result.
    pub(super) fn run(&self, quiet: bool) -> Result<Finished> {
        let job = Job::new(self)?;
        if self.print {
            job.print()?;
            return Ok(Finished { trace: self.show.trace(), code: ExitCode::SUCCESS });
        }
        // Before anything starts: a place that cannot be written is no reason to trace first.
        let sink = self.sink(&job)?;
        let status = Status::begin(quiet, &job.name);
        let mut save = self.save.as_deref().map(Save::create).transpose()?;
        let session = match (Start { job: &job, via: self.via.as_deref(), quiet }).session() {
            Ok(session) => session,
            Err(error) => {
                status.end();
                if let Some(save) = save.take() {
                    save.discard();
                }
                return if error.kind() == Failure::Interrupted {
                    Ok(self.interrupted())
                } else {
                    Err(explained(error))
                };
            }
        };
        let (shown, saved) = follow(&job, &self.input_name(&job), &session, sink, save, &status);
        status.end();
        if shown.is_err() && signals_received() > 1 {
            drop(session);
            saved.unwrap_or_else(|error| say(quiet, &error.to_string()));
            return Ok(self.interrupted());
        }
        let trace = match shown {
            Ok(trace) => trace,
            // A broken pipe, a full disk: detach, then say it, and what became of the dump.
            Err(error) => {
                drop(session);
                saved?;
                if let Some(path) = self.save.as_deref().filter(|_| !error.is_broken_pipe()) {
                    say(
                        quiet,
                        &format!("{}: the dump is complete up to the failure that ended the trace", path.display()),
                    );
                }
                return Err(error);
            }
        };
        let report = session
            .finish(|| say(quiet, "the results are complete; DTrace takes its probes out, which can take a minute"));
        saved?;
        outcome(trace, report)
    }

    /// An empty trace, and what shows it: nothing for one's own program, whose text is shown as it is unless a view is asked for.
    fn sink(&self, job: &Job) -> Result<Sink<'_>> {
        let mut trace = self.show.trace();
        let is_raw = job.is_own && !self.show.names_a_view();
        let showing = if is_raw { None } else { Some(self.show.begin(&mut trace)?) };
        Ok(Sink { trace, showing })
    }

    fn interrupted(&self) -> Finished {
        Finished { trace: self.show.trace(), code: ExitCode::from(130) }
    }
}

/// Where the text of the trace goes.
struct Sink<'a> {
    trace: Trace,
    showing: Option<Showing<'a>>,
}

/// Reads the text of the trace to its end and shows it, while the target may still live. What comes back is what was shown, and what
/// became of the dump.
fn follow(
    job: &Job,
    name: &str,
    session: &Session,
    sink: Sink<'_>,
    save: Option<Save>,
    status: &Status,
) -> (Result<Trace>, Result<()>) {
    let save = Arc::new(Mutex::new(save));
    let tee = || Tee { text: session.text(), save: save.clone() };
    let taken_in = take_in(job, name, session, sink, tee(), status);
    if taken_in.is_err() && kept(&save).is_some() {
        // Nobody sees the rest, but the dump shall end as a trace ends.
        session.stop();
        if let (Err(error), Some(save)) = (io::copy(&mut tee(), &mut io::sink()), &mut *kept(&save)) {
            save.break_off(error);
        }
    }
    // The dump is complete, whatever becomes of the view.
    let saved = kept(&save).take().map_or(Ok(()), Save::finish);
    let shown = taken_in.and_then(|Sink { mut trace, showing }| {
        trace.finish();
        status.end();
        showing.map_or(Ok(()), |showing| showing.end(&mut trace))?;
        Ok(trace)
    });
    (shown, saved)
}

/// Reads the text of the trace to its end; streams show it as it comes.
fn take_in<'a>(
    job: &Job,
    name: &str,
    session: &Session,
    mut sink: Sink<'a>,
    mut text: Tee,
    status: &Status,
) -> Result<Sink<'a>> {
    // Where lines appear as they come nothing may stand between them.
    match sink.showing.is_none() || job.has_records() {
        true => status.end(),
        false => status.watch(session.progress()),
    }
    match sink.showing {
        None => copy(&mut text)?,
        Some(_) => read(&mut Input::from_read(name, Box::new(text))?, job, &mut sink.trace)?,
    }
    Ok(sink)
}

fn read(input: &mut Input, job: &Job, trace: &mut Trace) -> Result<()> {
    // Ours print dumps. To judge by the first lines would be wrong while these are only DTrace's diagnostics.
    let from = (!job.is_own).then_some("dump");
    format::read(input, from, &format::Options::default(), trace)?;
    match input.lines.failure() {
        Some(failure) if failure.get_ref().is_some_and(|inner| inner.is::<SecondSignal>()) => {
            Err(Error::Io { what: "trace".into(), source: io::Error::other(SecondSignal) })
        }
        _ => Ok(()),
    }
}

/// What a trace ended with, after everything has been shown.
fn outcome(trace: Trace, report: Report) -> Result<Finished> {
    if let Some(failure) = report.failure {
        return Err(explained(failure));
    }
    let code = match report.ended {
        Ended::Exit(status) => ExitCode::from(u8::try_from(status & 0xff).unwrap_or(1)),
        _ if signals_received() > 1 => ExitCode::from(130),
        _ => ExitCode::SUCCESS,
    };
    Ok(Finished { trace, code })
}

fn explained(error: LiveError) -> Error {
    match error.kind() {
        Failure::Usage => Error::Usage(error.to_string()),
        _ => Error::Trace { cause: error.to_string(), remedy: String::new() },
    }
}

fn say(quiet: bool, text: &str) {
    if !quiet {
        eprintln!("seatrace: {}", view::harmless(text));
    }
}

fn copy(text: &mut Tee) -> Result<()> {
    let mut out = io::stdout().lock();
    let mut block = vec![0; 64 << 10];
    loop {
        let length = text.read(&mut block).map_err(|source| Error::Io { what: "trace".into(), source })?;
        if length == 0 {
            return Ok(());
        }
        out.write_all(block.get(..length).unwrap_or_default())?;
        out.flush()?;
    }
}

/// The text of the trace, which is saved as it passes by.
struct Tee {
    text: Text,
    save: Arc<Mutex<Option<Save>>>,
}

/// The dump, whatever became of others that used it.
fn kept(save: &Mutex<Option<Save>>) -> MutexGuard<'_, Option<Save>> {
    save.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Read for Tee {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = self.text.read(out)?;
        if let Some(save) = &mut *kept(&self.save) {
            save.write(out.get(..length).unwrap_or_default());
        }
        Ok(length)
    }
}

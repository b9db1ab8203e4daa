//! `seatrace doctor`: what works here, what does not, and what to do.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::run::dtrace_option;
use crate::doctor::{self, Ask, Here};
use crate::error::{Error, Result};
use crate::live::{Flavor, LiveError};

/// Shown by `seatrace doctor --help`; a test runs them.
pub(super) const EXAMPLES: &str = "Examples:
  seatrace doctor
  seatrace doctor -p 4242
  seatrace doctor /usr/sbin/mariadbd
  seatrace doctor -x syslibdir=/opt/dtrace-lib
  seatrace doctor --self-test -x syslibdir=/opt/dtrace-lib

Exit status 0: query-time can run; 1: it cannot, and the report says why.";

/// `seatrace doctor [FILE]`
#[derive(Args)]
pub(super) struct Doctor {
    /// Judge the executable FILE, which may be one of another system; default: the running servers
    #[arg(value_name = "FILE", conflicts_with = "pid")]
    file: Option<PathBuf>,
    /// Judge the process PID
    #[arg(short, long, value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pid: Option<i32>,
    /// Print one JSON object
    #[arg(long, conflicts_with = "self_test")]
    json: bool,
    /// Compile every script with the system's DTrace, and try our binding to it
    #[arg(long, conflicts_with_all = ["file", "pid"])]
    self_test: bool,
    /// An option of DTrace that each trace will be given, as dtrace -x
    #[arg(short = 'x', value_name = "OPT[=VAL]", value_parser = dtrace_option)]
    options: Vec<(String, Option<String>)>,
}

impl Doctor {
    /// Prints the report; fails if query-time cannot run.
    pub(super) fn run(&self) -> Result<ExitCode> {
        let native = Flavor::native();
        let mut out = std::io::stdout().lock();
        let good = if self.self_test {
            let flavor = native
                .ok_or_else(|| Error::Trace { cause: LiveError::no_flavor().to_string(), remedy: String::new() })?;
            doctor::self_test(flavor, &self.options, &Here, &mut out)?
        } else {
            let report = doctor::examine(
                &Ask { pid: self.pid, file: self.file.clone(), options: self.options.clone() },
                native,
                &Here,
            );
            let text = match self.json {
                true => doctor::json(&report).map_err(|error| Error::from(std::io::Error::from(error)))?,
                false => doctor::text(&report),
            };
            out.write_all(text.as_bytes())?;
            report.query_time_runs()
        };
        Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

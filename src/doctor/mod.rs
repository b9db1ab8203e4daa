//! `seatrace doctor`: what works on this system, with this server, what does not, and what to do.
//!
//! `system` looks at the system, `target` at servers and their executables, `verdict` puts both together for each script, `show`
//! prints it. [`self_test`] tries the system's DTrace with every script. Nothing here traces or changes a server.

mod eyes;
mod finding;
mod linux;
mod macos;
mod self_test;
mod show;
mod system;
mod target;
mod verdict;

use std::path::PathBuf;

pub use eyes::{Eyes, Here};
pub use finding::{Finding, State};
pub use self_test::self_test;
pub use show::{json, text};
pub use target::Target;
pub use verdict::{Verdict, Works};

use crate::live::Flavor;
use crate::scripts::Form;

/// What is asked about.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    /// This process.
    pub pid: Option<i32>,
    /// This executable.
    pub file: Option<PathBuf>,
    /// Options of DTrace that will be given to each trace.
    pub options: Vec<(String, Option<String>)>,
}

/// What was found out about one target.
pub struct Examined {
    /// The server or its file; None: none is running.
    pub target: Option<Target>,
    /// The system whose scripts were judged: the file's, which may be another than ours.
    pub flavor: Flavor,
    /// Each script.
    pub verdicts: Vec<Verdict>,
}

/// Everything that doctor knows.
pub struct Report {
    /// The system that we run on; None: it has no DTrace.
    pub flavor: Option<Flavor>,
    /// What was found out about it.
    pub system: Vec<Finding>,
    /// The options that traces are to be given.
    pub options: Vec<(String, Option<String>)>,
    /// What was found out about each target.
    pub examined: Vec<Examined>,
}

/// Looks at the system and at what was asked about.
pub fn examine(ask: &Ask, native: Option<Flavor>, eyes: &dyn Eyes) -> Report {
    let system = match native {
        Some(flavor) => system::examine(flavor, &ask.options, eyes),
        None => vec![Finding::bad(
            "system",
            "it has no DTrace that seatrace knows",
            "trace on macOS, illumos, FreeBSD or Linux; replay works here",
        )],
    };
    let targets: Vec<Option<Target>> = match (&ask.file, ask.pid) {
        (Some(file), _) => vec![Some(target::of_file(file))],
        (None, Some(pid)) => vec![Some(target::of_pid(pid))],
        (None, None) => match target::running() {
            none if none.is_empty() => vec![None],
            some => some.into_iter().map(Some).collect(),
        },
    };
    let own = native.unwrap_or(Flavor::Linux);
    let examined = targets.into_iter().map(|mut target| {
        if native == Some(Flavor::MacOs)
            && let Some(target) = &mut target
        {
            target.ask_macos(&system, eyes);
        }
        let flavor = target.as_ref().and_then(|target| target.flavor).unwrap_or(own);
        // Another system's file: what its machine lacks cannot be known here.
        let findings = if flavor == own { system.as_slice() } else { &[] };
        let verdicts = verdict::all(flavor, target.as_ref(), findings);
        Examined { target, flavor, verdicts }
    });
    Report { flavor: native, examined: examined.collect(), options: ask.options.clone(), system }
}

/// What keeps probes of the form from firing on this system.
pub fn obstacle(form: &Form, flavor: Flavor, options: &[(String, Option<String>)], eyes: &dyn Eyes) -> Option<Finding> {
    system::examine(flavor, options, eyes).into_iter().find(|finding| verdict::is_stopped(form, finding))
}

impl Examined {
    /// Whether the executable was made for another system than this one.
    pub fn is_foreign(&self, native: Option<Flavor>) -> bool {
        native != Some(self.flavor)
    }

    /// Whether `query-time` can run on it.
    fn can_run_query_time(&self) -> bool {
        self.verdicts.iter().any(|verdict| verdict.script == "query-time" && verdict.can_run())
    }
}

impl Report {
    /// What keeps every trace on this system from starting.
    pub fn stops(&self) -> impl Iterator<Item = &Finding> {
        self.system.iter().filter(|finding| finding.stops_everything())
    }

    /// Whether `query-time` can run on one of the targets; for a file of another system: there.
    pub fn query_time_runs(&self) -> bool {
        let free = self.stops().next().is_none();
        self.examined.iter().any(|one| one.can_run_query_time() && (free || one.is_foreign(self.flavor)))
    }
}

//! From the command line to a running session: script, form, target, and what to try when the first attempt fails.

use std::io::Write;

use super::{Run, choice, say};
use crate::error::{Error, Result};
use crate::live::{self, Failure, Flavor, LiveError, Plan, Program, Session, Target, Via};
use crate::{scripts, server};

/// What is to be traced, settled.
pub(super) struct Job {
    /// Name of the script, or of the user's file.
    pub name: String,
    /// The user's own program.
    pub is_own: bool,
    /// What to tell before it starts: form, target.
    remarks: Vec<String>,
    plan: Plan,
}

impl Job {
    /// Settles script, target and form.
    pub(super) fn new(run: &Run) -> Result<Job> {
        let flavor = Flavor::native();
        let mut remarks = Vec::new();
        let mut said = Vec::new();
        let (name, programs, target) = match (&run.script, &run.source) {
            (Some(script), _) => {
                let chosen = choice::bundled(run, script, flavor)?;
                remarks.extend(chosen.remarks);
                said = chosen.left_out;
                (chosen.name, chosen.programs, chosen.target)
            }
            (None, Some(path)) => {
                let bytes = std::fs::read(path).map_err(|source| Error::io(path, source))?;
                let text = String::from_utf8(bytes)
                    .map_err(|_| Error::Usage(format!("{}: a D program must be UTF-8 text", path.display())))?;
                let name = path.display().to_string();
                let program =
                    Program { name: name.clone(), text: without_interpreter(&text), args: run.arguments.clone() };
                (name, vec![program], explicit_target(run)?.unwrap_or(Target::System))
            }
            (None, None) => return Err(Error::Usage("name a script, or give a D program with -s FILE".into())),
        };
        let mut programs: Vec<Program> =
            programs.into_iter().map(|program| scripts::with_options(program, &run.options)).collect();
        let shared = scripts::share_options(&mut programs);
        if !shared.is_empty() {
            let shared: Vec<String> = shared.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
            said.push(format!("options of all scripts, the largest that one asks for: {}", shared.join(", ")));
        }
        remarks.extend(said.iter().cloned());
        let plan = Plan {
            // `--print` works everywhere; `session` refuses a system without DTrace.
            flavor: flavor.unwrap_or(Flavor::Linux),
            library: None,
            programs,
            options: run.options.clone(),
            target,
            duration: run.duration,
            remarks: said,
        };
        Ok(Job { name, is_own: run.source.is_some(), remarks, plan })
    }

    /// Whether it prints records, which are shown as they come.
    pub(super) fn has_records(&self) -> bool {
        self.plan.programs.iter().any(|program| program.text.contains("# record"))
    }

    /// `--print`: the program, and on standard error how to give it to dtrace(1).
    pub(super) fn print(&self) -> Result<()> {
        for program in &self.plan.programs {
            std::io::stdout().write_all(program.text.as_bytes())?;
            if !program.args.is_empty() {
                let args: Vec<String> = program.args.iter().map(|arg| format!("{arg:?}")).collect();
                eprintln!("seatrace: arguments: {}", args.join(" "));
            }
        }
        Ok(())
    }
}

/// The target that the command line names.
pub(super) fn explicit_target(run: &Run) -> Result<Option<Target>> {
    let asked = &run.target;
    if let Some(pid) = asked.pid {
        return Ok(Some(Target::Process(pid)));
    }
    if let Some(name) = &asked.name {
        return match server::by_name(Some(name)) {
            Ok(found) => Ok(Some(Target::Process(found.pid))),
            // What would run is shown without that server too.
            Err(_) if run.print => Ok(None),
            Err(error) => Err(error),
        };
    }
    let words: Vec<String> = match &asked.command {
        Some(command) => command.split_whitespace().map(str::to_owned).collect(),
        None => asked.words.clone(),
    };
    if asked.command.is_some() && words.is_empty() {
        return Err(Error::Usage("-c: an empty command".into()));
    }
    Ok((!words.is_empty()).then_some(Target::Command(words)))
}

/// The options of a `#!` line are for dtrace(1), not for us.
fn without_interpreter(text: &str) -> String {
    match text.strip_prefix("#!") {
        Some(rest) => format!("\n{}", rest.split_once('\n').map_or("", |(_, after)| after)),
        None => text.to_owned(),
    }
}

/// How to start.
pub(super) struct Start<'a> {
    pub job: &'a Job,
    /// `library`, `dtrace`, or the one after the other.
    pub via: Option<&'a str>,
    pub quiet: bool,
}

/// How often buffers are made smaller before we give up, and by how much.
const ATTEMPTS: usize = 3;
const SHRINK: u64 = 4;

impl Start<'_> {
    /// Starts the session: by the library, or by dtrace(1) where the library cannot.
    pub(super) fn session(&self) -> std::result::Result<Session, LiveError> {
        if Flavor::native().is_none() {
            return Err(LiveError::no_flavor());
        }
        self.job.remarks.iter().for_each(|remark| say(self.quiet, remark));
        let mut plan = self.job.plan.clone();
        plan.library = live::override_path()?;
        if self.via == Some("dtrace") {
            return self.shrinking(plan, Via::Command);
        }
        let error = match self.shrinking(plan.clone(), Via::Library) {
            Err(error) if self.via.is_none() && error.may_work_by_command() => error,
            result => return result,
        };
        match self.shrinking(plan, Via::Command) {
            Ok(session) => {
                say(self.quiet, &format!("{}; the system's dtrace(1) runs in its place", error.cause()));
                Ok(session)
            }
            // The first reason is the true one.
            Err(_) => Err(error),
        }
    }

    /// Starts with smaller aggregation buffers where the kernel refuses those that the script asks for.
    fn shrinking(&self, mut plan: Plan, mut via: Via) -> std::result::Result<Session, LiveError> {
        for _ in 0..ATTEMPTS {
            match Session::start(plan.clone(), via) {
                Err(error) if error.kind() == Failure::TooBig => match smaller(&plan) {
                    // Linux' libdtrace 2.0.7 cannot begin a second trace in one process (`BPF program load … failed: Bad file
                    // descriptor`): dtrace(1) is a new process.
                    Some(_) if plan.flavor.traits().is_linux && self.via == Some("library") => return Err(error),
                    Some(next) => {
                        next.remarks.last().into_iter().for_each(|remark| say(self.quiet, remark));
                        via = if plan.flavor.traits().is_linux { Via::Command } else { via };
                        plan = next;
                    }
                    None => return Err(error),
                },
                result => return result,
            }
        }
        Session::start(plan, via)
    }
}

/// How the remark on a smaller aggregation buffer begins.
const LOWERED: &str = "aggregation size lowered";

/// The plan with a smaller aggregation buffer; None if the user has set its size.
fn smaller(plan: &Plan) -> Option<Plan> {
    const NAME: &str = "aggsize";
    let is_first = !plan.remarks.iter().any(|remark| remark.starts_with(LOWERED));
    if is_first && plan.options.iter().any(|(name, _)| name == NAME) {
        return None;
    }
    let asked = plan.options.iter().rev().find(|(name, _)| name == NAME).and_then(|(_, value)| value.clone());
    let asked = asked.or_else(|| plan.programs.iter().find_map(|program| scripts::pragma_value(&program.text, NAME)));
    let bytes = scripts::parse_size(asked.as_deref().unwrap_or("4m"))? / SHRINK;
    if bytes < 64 << 10 {
        return None;
    }
    let mut next = plan.clone();
    next.options.retain(|(name, _)| name != NAME);
    next.options.push((NAME.into(), Some(bytes.to_string())));
    next.programs = next.programs.into_iter().map(|program| scripts::with_options(program, &next.options)).collect();
    next.remarks.retain(|remark| !remark.starts_with(LOWERED));
    next.remarks.push(format!("{LOWERED} to {}k", bytes >> 10));
    Some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(text: &str, options: &[(&str, &str)]) -> Plan {
        let options = options.iter().map(|(name, value)| ((*name).to_owned(), Some((*value).to_owned()))).collect();
        Plan {
            flavor: Flavor::Linux,
            library: None,
            programs: vec![Program { name: "p.d".into(), text: text.into(), args: Vec::new() }],
            options,
            target: Target::System,
            duration: None,
            remarks: Vec::new(),
        }
    }

    #[test]
    fn br_31_buffers_are_made_smaller_and_that_is_said() {
        let first = smaller(&plan("#pragma D option aggsize=64m\nBEGIN { exit(0); }\n", &[])).unwrap();
        assert_eq!(first.options, [("aggsize".to_owned(), Some((16 << 20).to_string()))]);
        assert!(first.remarks[0].ends_with("to 16384k"), "{:?}", first.remarks);
        let second = smaller(&first).unwrap();
        assert_eq!(second.options, [("aggsize".to_owned(), Some((4 << 20).to_string()))]);
        assert_eq!(second.remarks.len(), 1);
        // Not if the user chose the size, and not below what holds anything.
        assert!(smaller(&plan("BEGIN { exit(0); }\n", &[("aggsize", "64m")])).is_none());
        assert!(smaller(&plan("#pragma D option aggsize=128k\nBEGIN { exit(0); }\n", &[])).is_none());
    }
}

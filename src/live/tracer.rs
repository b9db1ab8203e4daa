//! The thread that runs libdtrace: the calls in the order that suits all four systems.
//!
//! Open, options, target, (Linux: init), compile, handlers, enable, go, continue, work …, stop, work, print; then, when the results are
//! shown, release and close.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use super::error::{Circumstances, LiveError, Step};
use super::handle::{Compiled, Handle, Process, Work};
use super::library::Library;
use super::plan::{Ended, Plan, Target};
use super::privilege::is_root;
use super::process::holder;
use super::session::{Report, Shared};
use super::signals;

/// Runs a trace from beginning to end. `started` hears once whether probes fire; `reported` how it went, before detaching.
pub(super) fn trace(
    plan: &Plan,
    pipe: OwnedFd,
    shared: Arc<Shared>,
    started: &Sender<Result<(), LiveError>>,
    reported: &Sender<Report>,
) {
    let prepared =
        Library::load(plan.flavor, plan.library.as_deref()).and_then(|library| start(plan, library, pipe, &shared));
    let mut tracer = match prepared {
        Ok(tracer) => tracer,
        Err(error) => {
            shared.end_printing();
            let _ = started.send(Err(error));
            return;
        }
    };
    shared.begin();
    shared.sleeper.enter();
    let _ = started.send(Ok(()));
    let (ended, failure) = tracer.run();
    shared.sleeper.leave();
    let failure = failure.or(tracer.print());
    shared.end_printing();
    tracer.handle.end_output();
    let _ = reported.send(tracer.report(ended, failure));
    shared.wait_to_close();
    tracer.close();
}

struct Tracer<'a> {
    plan: &'a Plan,
    shared: &'a Shared,
    handle: Handle,
    held: Option<Process>,
}

/// Everything up to the moment when probes fire.
fn start<'a>(
    plan: &'a Plan,
    library: Library,
    pipe: OwnedFd,
    shared: &'a Arc<Shared>,
) -> Result<Tracer<'a>, LiveError> {
    let failed = |step, text: String, subject: &str, source: &str| {
        LiveError::said(step, &text, Circumstances { flavor: plan.flavor, is_root: is_root(), subject, source })
    };
    let handle = Handle::open(library, pipe, shared.clone()).map_err(|text| failed(Step::Open, text, "", ""))?;
    let mut tracer = Tracer { plan, shared, handle, held: None };
    for (name, value) in plan.flavor.traits().presets.iter().chain(plan.flavor.traits().options) {
        // An older library may not know one of them; the defaults do then.
        let _ = tracer.handle.set(name, *value);
    }
    let _ = tracer.handle.set("quiet", None);
    for (name, value) in &plan.options {
        let set = tracer.handle.set(name, value.as_deref());
        set.map_err(|text| failed(Step::Option, text, &spelled(name, value.as_deref()), ""))?;
    }
    uninterrupted()?;
    match &plan.target {
        Target::System => {}
        Target::Process(pid) => {
            let held = tracer.handle.grab(*pid);
            tracer.held = Some(held.map_err(|text| failed(Step::Grab, grab_text(*pid, text), &pid.to_string(), ""))?);
        }
        Target::Command(words) => {
            let name = words.first().map_or("", String::as_str);
            let held = tracer.handle.create(words);
            tracer.held = Some(held.map_err(|text| failed(Step::Create, text, name, ""))?);
        }
    }
    let begun = tracer.enable(&failed);
    if let Err(error) = begun {
        tracer.close();
        return Err(error);
    }
    Ok(tracer)
}

type Explain<'a> = dyn Fn(Step, String, &str, &str) -> LiveError + 'a;

impl Tracer<'_> {
    fn enable(&mut self, failed: &Explain<'_>) -> Result<(), LiveError> {
        self.handle.init().map_err(|text| failed(Step::Init, text, "", ""))?;
        let mut compiled: Vec<(Compiled, &str)> = Vec::new();
        for program in &self.plan.programs {
            uninterrupted()?;
            let arguments: Vec<String> = [program.name.clone()].into_iter().chain(program.args.clone()).collect();
            let done = self.handle.compile(&program.text, &arguments);
            let done = done.map_err(|text| failed(Step::Compile, text, &program.name, &program.text))?;
            compiled.push((done, &program.name));
        }
        self.handle.listen().map_err(|text| failed(Step::Enable, text, "handlers", ""))?;
        let mut matches = 0u64;
        for (program, name) in compiled {
            let done = self.handle.enable(program);
            matches += u64::from(done.map_err(|text| failed(Step::Enable, text, name, ""))?);
        }
        if matches == 0 {
            return Err(failed(Step::Enable, "No probe matches description".to_string(), "the program", ""));
        }
        uninterrupted()?;
        self.handle.go().map_err(|text| failed(Step::Go, text, "", ""))?;
        if let Some(process) = self.held {
            self.handle.resume(process);
        }
        Ok(())
    }

    /// Prints what probes record until something ends the trace.
    fn run(&mut self) -> (Ended, Option<LiveError>) {
        loop {
            self.handle.sleep();
            match self.handle.work() {
                Work::Done => return (self.handle.exit_status().map_or(Ended::TargetExit, Ended::Exit), None),
                Work::Failed if self.handle.number() != libc::EINTR => return (Ended::Aborted, Some(self.broken())),
                Work::Failed | Work::Okay => {}
            }
            if signals::received() > 0 {
                return (Ended::Signal, None);
            }
            if self.shared.is_stopped() {
                return (Ended::Duration, None);
            }
            if self.held.is_some() && self.handle.living() == 0 {
                return (Ended::TargetExit, None);
            }
        }
    }

    /// Stops, lets END print, and prints the aggregations; not after a second Ctrl-C.
    fn print(&mut self) -> Option<LiveError> {
        let mut failure = self.handle.stop().err().map(|text| self.explain(Step::Work, &text));
        if signals::received() < 2 && self.handle.work() == Work::Failed {
            failure = failure.or_else(|| Some(self.broken()));
        }
        if signals::received() < 2 {
            let printed = self.handle.print_aggregations();
            failure = failure.or_else(|| printed.err().map(|text| self.explain(Step::Work, &text)));
        }
        // A writer whose pipe was cut fails: that is what the cut is for.
        failure.filter(|_| signals::received() < 2)
    }

    fn broken(&self) -> LiveError {
        self.explain(Step::Work, &self.handle.message())
    }

    fn explain(&self, step: Step, text: &str) -> LiveError {
        let at = Circumstances { flavor: self.plan.flavor, is_root: is_root(), subject: "", source: "" };
        LiveError::said(step, text, at)
    }

    fn report(&self, ended: Ended, failure: Option<LiveError>) -> Report {
        let ended = match self.handle.exit_status() {
            Some(status) => Ended::Exit(status),
            None => ended,
        };
        Report { ended, counts: self.shared.counts(), failure }
    }

    fn close(mut self) {
        if let Some(process) = self.held.take() {
            self.handle.release(process);
        }
    }
}

/// libdtrace's text, or what we know better.
fn grab_text(pid: i32, text: String) -> String {
    match holder(pid) {
        Some(reason) if text.contains("No such process") => format!("failed to grab: {reason}"),
        _ => text,
    }
}

fn uninterrupted() -> Result<(), LiveError> {
    if signals::received() > 0 { Err(LiveError::interrupted()) } else { Ok(()) }
}

fn spelled(name: &str, value: Option<&str>) -> String {
    match value {
        Some(value) => format!("-x {name}={value}"),
        None => format!("-x {name}"),
    }
}

//! The second source: the system's dtrace(1), started as a child with the same programs.
//!
//! Its standard output is the text; what it says on standard error comes between the lines, like what the handlers of the first
//! source say. It is the oracle of the binding in tests, and the way out where the library cannot be loaded.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tempfile::NamedTempFile;

use super::error::{Circumstances, LiveError, Step};
use super::plan::{Ended, Plan, Target};
use super::privilege::{is_root, temporary_folder};
use super::session::{Report, Shared};
use super::signals;

/// Prints a byte when probes begin to fire: dtrace(1) with -q says nothing of that.
const BEACON: &str = "BEGIN { printf(\"\\n\"); }";
/// How often the child is looked at.
const TICK: Duration = Duration::from_millis(20);

/// Runs a trace from beginning to end, as that of the library does.
pub(super) fn trace(
    plan: &Plan,
    pipe: OwnedFd,
    shared: Arc<Shared>,
    started: &Sender<Result<(), LiveError>>,
    reported: &Sender<Report>,
) {
    let mut child = match Tracer::start(plan, pipe, &shared) {
        Ok(child) => child,
        Err(error) => {
            shared.end_printing();
            let _ = started.send(Err(error));
            return;
        }
    };
    shared.begin();
    let _ = started.send(Ok(()));
    let (ended, status) = child.run(&shared);
    shared.end_printing();
    let _ = reported.send(child.report(plan, &shared, ended, status));
}

/// What dtrace(1) said on standard error.
#[derive(Default)]
struct Said {
    lines: Vec<String>,
    /// Probes fire: lines are passed on. Before that they may be the reason why it ends.
    began: bool,
}

struct Tracer {
    child: Child,
    said: Arc<Mutex<Said>>,
    listener: Option<JoinHandle<()>>,
    // The programs' files live as long as their reader.
    _files: Vec<NamedTempFile>,
}

impl Tracer {
    /// Starts dtrace(1) and waits until its probes fire.
    fn start(plan: &Plan, pipe: OwnedFd, shared: &Arc<Shared>) -> Result<Tracer, LiveError> {
        let files = program_files(plan).map_err(|error| LiveError::system("temporary file", &error))?;
        let path = plan.flavor.traits().commands.iter().find(|path| Path::new(path).exists());
        let path = path.ok_or_else(|| LiveError::no_command(plan.flavor, "no such file"))?;
        let mut command = Command::new(path);
        command.args(arguments(plan, &files)?).stdin(Stdio::null()).stdout(pipe).stderr(Stdio::piped());
        // Ctrl-C must reach it once: from us. The second one means to it that nothing shall be printed.
        command.process_group(0);
        without_options(&mut command, std::env::vars_os().map(|(name, _)| name));
        let mut child = command.spawn().map_err(|error| LiveError::no_command(plan.flavor, &error.to_string()))?;
        drop(command);
        let said = Arc::new(Mutex::new(Said::default()));
        let listener = child.stderr.take().map(|stderr| {
            let (shared, said) = (shared.clone(), said.clone());
            std::thread::spawn(move || listen(BufReader::new(stderr), &shared, &said))
        });
        let mut tracer = Tracer { child, said, listener, _files: files };
        tracer.wait_for_probes(plan, shared)?;
        Ok(tracer)
    }

    fn wait_for_probes(&mut self, plan: &Plan, shared: &Shared) -> Result<(), LiveError> {
        let mut interrupted = false;
        loop {
            shared.spool.pump();
            if shared.spool.has_printed() {
                self.pass_on(shared);
                return Ok(());
            }
            if let Ok(Some(_)) = self.child.try_wait() {
                self.end_listening();
                // A short program may be over before we looked.
                shared.spool.pump();
                if interrupted {
                    return Err(LiveError::interrupted());
                }
                if !shared.spool.has_printed() {
                    return Err(self.failure(plan));
                }
                self.pass_on(shared);
                return Ok(());
            }
            if signals::received() > 0 && !std::mem::replace(&mut interrupted, true) {
                self.interrupt();
            }
            std::thread::sleep(TICK);
        }
    }

    /// Waits for its end, and brings it about when the trace is to end.
    fn run(&mut self, shared: &Shared) -> (Ended, Option<ExitStatus>) {
        let mut sent = 0;
        let mut ended = Ended::TargetExit;
        loop {
            match self.child.try_wait() {
                Ok(None) => {}
                Ok(Some(status)) => return (ended, Some(status)),
                Err(_) => return (Ended::Aborted, None),
            }
            let received = signals::received();
            let wanted = received.max(usize::from(shared.is_stopped())).min(2);
            if sent < wanted {
                ended = if received > 0 { Ended::Signal } else { Ended::Duration };
                self.interrupt();
                sent += 1;
            }
            std::thread::sleep(TICK);
        }
    }

    /// From now on what dtrace(1) says goes into the text; what it has said so far as well.
    fn pass_on(&self, shared: &Shared) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.began = true;
        said.lines.iter().for_each(|line| pass_on(line, shared));
    }

    fn interrupt(&self) {
        if let Ok(pid) = i32::try_from(self.child.id()) {
            // SAFETY: the child has not been waited for, so its id is its own.
            unsafe { libc::kill(pid, libc::SIGINT) };
        }
    }

    fn report(&mut self, plan: &Plan, shared: &Shared, ended: Ended, status: Option<ExitStatus>) -> Report {
        self.end_listening();
        let code = status.and_then(|status| status.code());
        let failure = match status {
            Some(status) if status.signal().is_some() => {
                Some(LiveError::no_command(plan.flavor, &format!("it was killed: {status}")))
            }
            _ if code != Some(0) && self.has_failed() => Some(self.failure(plan)),
            _ => None,
        };
        let ended = match (ended, code) {
            _ if failure.is_some() => Ended::Aborted,
            (Ended::TargetExit, Some(code)) => Ended::Exit(code),
            (ended, _) => ended,
        };
        Report { ended, counts: shared.counts(), failure }
    }

    /// Whether it said so: any status can also come from `exit()` in the program.
    fn has_failed(&self) -> bool {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.lines.iter().any(|line| step_of(line).is_some())
    }

    fn end_listening(&mut self) {
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
    }

    /// The error among the things it said.
    fn failure(&self, plan: &Plan) -> LiveError {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let known = said.lines.iter().rev().find_map(|line| Some((step_of(line)?, line.as_str())));
        let last = said.lines.last().map_or("it said nothing", String::as_str);
        // Linux: a pid that does not exist gives its reason alone.
        let early = if matches!(plan.target, Target::Process(_)) && !said.began { Step::Grab } else { Step::Work };
        let (step, text) = known.unwrap_or((early, last));
        let program = plan.programs.first();
        let subject = match (step, &plan.target) {
            (Step::Grab, Target::Process(pid)) => pid.to_string(),
            (Step::Create, Target::Command(words)) => words.first().cloned().unwrap_or_default(),
            _ => program.map_or(String::new(), |program| program.name.clone()),
        };
        let source = program.map_or("", |program| &program.text);
        let at = Circumstances { flavor: plan.flavor, is_root: is_root(), subject: &subject, source };
        LiveError::said(step, without_prefix(step, text), at)
    }
}

/// What stands before the cause in dtrace(1)'s messages, by step.
const PREFIXES: [(&str, Step); 9] = [
    ("failed to initialize dtrace", Step::Open),
    ("failed to set ", Step::Option),
    ("failed to grab ", Step::Grab),
    ("failed to execute ", Step::Create),
    ("failed to compile script ", Step::Compile),
    ("invalid probe specifier ", Step::Compile),
    ("failed to enable ", Step::Enable),
    ("could not enable tracing", Step::Go),
    ("processing aborted", Step::Work),
];

fn step_of(line: &str) -> Option<Step> {
    PREFIXES.iter().find(|(prefix, _)| line.starts_with(prefix)).map(|(_, step)| *step)
}

fn without_prefix(step: Step, line: &str) -> &str {
    match step {
        // `failed to compile script FILE: line 3: …`: the file is a temporary one of ours.
        Step::Compile | Step::Open | Step::Enable | Step::Go | Step::Work => {
            line.split_once(": ").map_or(line, |(_, cause)| cause)
        }
        Step::Option | Step::Grab | Step::Create | Step::Init => line,
    }
}

/// dtrace(1) takes options from variables (`DTRACE_OPT_LDPATH` on Linux): they would name programs for it to run. The target of -c keeps
/// the rest of the environment.
fn without_options(command: &mut Command, names: impl Iterator<Item = OsString>) {
    names.filter(|name| name.as_encoded_bytes().starts_with(b"DTRACE_")).for_each(|name| _ = command.env_remove(name));
}

fn program_files(plan: &Plan) -> std::io::Result<Vec<NamedTempFile>> {
    let mut files = Vec::new();
    for program in &plan.programs {
        let mut file = tempfile::Builder::new().prefix("seatrace-").suffix(".d").tempfile_in(temporary_folder())?;
        file.write_all(program.text.as_bytes())?;
        files.push(file);
    }
    Ok(files)
}

fn arguments(plan: &Plan, files: &[NamedTempFile]) -> Result<Vec<String>, LiveError> {
    let mut all: Vec<String> = vec!["-q".into()];
    let ours = plan.flavor.traits().options.iter().map(|(name, value)| (name.to_string(), value.map(str::to_owned)));
    for (name, value) in ours.chain(plan.options.iter().cloned()) {
        let option = value.map_or(name.clone(), |value| format!("{name}={value}"));
        all.extend(["-x".into(), option]);
    }
    match &plan.target {
        Target::System => {}
        Target::Process(pid) => all.extend(["-p".into(), pid.to_string()]),
        Target::Command(words) => all.extend(["-c".into(), one_string(words)?]),
    }
    for file in files {
        all.extend(["-s".into(), file.path().to_string_lossy().into_owned()]);
    }
    // The beacon refers to no macro argument, which dtrace(1) takes for an error.
    all.extend(["-x".into(), "argref".into(), "-n".into(), BEACON.into()]);
    let mut arguments = plan.programs.iter().map(|program| &program.args);
    let first = arguments.next().cloned().unwrap_or_default();
    if arguments.any(|others| *others != first) {
        return Err(LiveError::usage(
            "dtrace(1) gives all programs the same arguments, and these want different ones",
            "run them one by one, or without --via dtrace",
        ));
    }
    all.extend(first);
    Ok(all)
}

/// dtrace -c splits at white space and knows no quotes.
fn one_string(words: &[String]) -> Result<String, LiveError> {
    let is_plain = |word: &String| !word.is_empty() && !word.contains(|c: char| c.is_whitespace());
    if words.iter().all(is_plain) {
        return Ok(words.join(" "));
    }
    Err(LiveError::usage(
        "dtrace -c would split an argument of the command at its white space",
        "start the command first and use -p, or leave out --via dtrace",
    ))
}

/// Takes what dtrace(1) says until it ends.
fn listen(mut stderr: impl BufRead, shared: &Shared, said: &Mutex<Said>) {
    let mut line = Vec::new();
    while stderr.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end();
        let text = text.strip_prefix("dtrace: ").unwrap_or(text);
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.began {
            pass_on(text, shared);
        }
        if !text.is_empty() {
            said.lines.push(text.to_string());
        }
        line.clear();
    }
}

fn pass_on(text: &str, shared: &Shared) {
    if step_of(text).is_none() && !text.is_empty() {
        count(text, shared);
        shared.spool.say(text);
    }
}

fn count(text: &str, shared: &Shared) {
    if text.starts_with("error ") {
        shared.count_error();
    } else if let Some((number, rest)) = text.split_once(' ')
        && rest.contains("drop")
        && let Ok(drops) = number.parse()
    {
        shared.count_drops(drops);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_variable_is_an_option() {
        let mut command = Command::new("/usr/sbin/dtrace");
        let names = ["DTRACE_OPT_LDPATH", "DTRACE_DEBUG", "PATH", "MYSQL_HOME"];
        without_options(&mut command, names.into_iter().map(OsString::from));
        let gone: Vec<_> = command.get_envs().map(|(name, value)| (name.to_str().unwrap(), value)).collect();
        assert_eq!(gone, [("DTRACE_DEBUG", None), ("DTRACE_OPT_LDPATH", None)]);
    }
}

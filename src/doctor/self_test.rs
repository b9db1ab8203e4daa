//! `seatrace doctor --self-test`: every bundled script through the system's own compiler, and small programs through our binding.
//!
//! Nothing is enabled but BEGIN and END. The report says what was expected and what came, so that a user of a system that we cannot
//! run on can paste it into an issue.

use std::io::{Read, Seek, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::finding::State;
use super::verdict::is_stopped;
use super::{Eyes, system};
use crate::error::{Error, Result};
use crate::live::{self, Flavor};
use crate::scripts::{self, Form, FormKind, TargetNeed};

/// No step may take longer; Linux needs two to four seconds each.
const PATIENCE: Duration = Duration::from_secs(60);
/// A text that would leave its place in a program that took it unquoted.
const HOSTILE: &str = "it's \"%d\"\n/* } */ $1";

/// Runs all trials and writes the report; whether all passed.
pub fn self_test(
    flavor: Flavor,
    options: &[(String, Option<String>)],
    eyes: &dyn Eyes,
    out: &mut dyn Write,
) -> Result<bool> {
    let uname =
        eyes.run(&["/usr/bin/uname", "-srvm"]).or_else(|| eyes.run(&["/bin/uname", "-srvm"])).unwrap_or_default();
    writeln!(out, "seatrace {} self-test on {flavor}\n  {}", env!("CARGO_PKG_VERSION"), uname.trim())?;
    let system = system::examine(flavor, options, eyes);
    for finding in &system {
        let mark = if finding.state == State::Good { "ok  " } else { "look" };
        writeln!(out, "{mark} {}: {}", finding.about, finding.says)?;
    }
    let bystander = Bystander::start()?;
    let tester = Tester { flavor, options, pid: bystander.pid() };
    let (mut passed, mut tried) = (0, 0);
    let mut note = |out: &mut dyn Write, name: String, result: std::result::Result<(), String>| -> Result<()> {
        tried += 1;
        match result {
            Ok(()) => {
                passed += 1;
                writeln!(out, "ok   {name}")?;
            }
            Err(cause) => writeln!(out, "FAIL {name}: {}", one_line(&cause))?,
        }
        Ok(out.flush()?)
    };
    for form in scripts::all().iter().flat_map(|script| &script.forms) {
        let stop = system.iter().find(|finding| is_stopped(form, finding));
        match stop {
            _ if !tester.is_for_this_system(form) => writeln!(out, "-    compile {}.d: not for {flavor}", form.name)?,
            Some(stop) => writeln!(out, "-    compile {}.d: {}", form.name, stop.says)?,
            None => note(out, format!("compile {}.d", form.name), tester.compile(form))?,
        }
    }
    for trial in TRIALS {
        for (via, word) in [("library", "libdtrace"), ("dtrace", "dtrace(1)")] {
            note(out, format!("{word}: {}", trial.name), tester.run(trial, via))?;
        }
    }
    drop(bystander);
    writeln!(out, "{passed} of {tried} passed")?;
    if passed < tried {
        writeln!(
            out,
            "Please paste everything from the first line on into an issue, with the version of your server."
        )?;
    }
    Ok(passed == tried)
}

/// A process of our own to point `$target` at: it waits for input that never comes. A program of the system would not do, since macOS
/// protects its own.
struct Bystander(Child);

impl Bystander {
    fn start() -> Result<Bystander> {
        let failed = |source| Error::Io { what: "a process to trace".into(), source };
        let own = std::env::current_exe().map_err(failed)?;
        let mut command = Command::new(own);
        command.args(["replay", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map(Bystander).map_err(failed)
    }

    fn pid(&self) -> i32 {
        i32::try_from(self.0.id()).unwrap_or(0)
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A small program and what must come of it.
struct Trial {
    name: &'static str,
    text: &'static str,
    args: &'static [&'static str],
    about: About,
    /// What must stand in the output; `PID` stands for the bystander's.
    expected: &'static str,
    /// Status with which `run` must end: that of `exit()`.
    status: i32,
}

#[derive(PartialEq)]
enum About {
    System,
    Process,
    Command,
}

const TRIALS: &[Trial] = &[
    Trial {
        name: "BEGIN, arguments, exit status",
        text: "BEGIN { printf(\"%d\\t%S\\n\", $1, $$2); exit(3); }",
        args: &["42", HOSTILE],
        about: About::System,
        expected: "42\tit's \\\"%d\\\"\\n/* } */ $1",
        status: 3,
    },
    Trial {
        name: "an aggregation printed in END",
        text: "BEGIN { @st_a[\"key\"] = count(); @st_a[\"key\"] = count(); exit(0); } END { printa(\"%S\\t%@d\\n\", @st_a); }",
        args: &[],
        about: About::System,
        expected: "key\\0\t2\n",
        status: 0,
    },
    Trial {
        name: "an error in a probe does not end the trace",
        text: "BEGIN { trace(*(int *)0); } BEGIN { printf(\"after\\n\"); exit(0); }",
        args: &[],
        about: About::System,
        expected: "invalid address",
        status: 0,
    },
    Trial {
        name: "a process taken by its id",
        text: "BEGIN { printf(\"target %d\\n\", $target); exit(0); }",
        args: &[],
        about: About::Process,
        expected: "target PID\n",
        status: 0,
    },
    Trial {
        name: "a command started and followed to its end",
        text: "BEGIN { printf(\"began\\n\"); } END { printf(\"ended\\n\"); }",
        args: &[],
        about: About::Command,
        expected: "ended\n",
        status: 0,
    },
];

struct Tester<'a> {
    flavor: Flavor,
    options: &'a [(String, Option<String>)],
    pid: i32,
}

impl Tester<'_> {
    fn is_for_this_system(&self, form: &Form) -> bool {
        let word = self.flavor.word();
        let systems = &form.header.systems;
        let named = systems.is_empty() || systems.iter().any(|system| system == word);
        named && !matches!(form.kind, FormKind::System(system) if system != word)
    }

    /// `dtrace -e`: compile, and end before anything is enabled. Probes of a server need not be there (`-Z`).
    fn compile(&self, form: &Form) -> std::result::Result<(), String> {
        let path = self.flavor.traits().commands.iter().find(|path| std::path::Path::new(path).exists());
        let path = path.ok_or("there is no dtrace(1)")?;
        let mut file = tempfile::Builder::new()
            .suffix(".d")
            .tempfile_in(live::temporary_folder())
            .map_err(|error| error.to_string())?;
        file.write_all(form.text.as_bytes()).map_err(|error| error.to_string())?;
        let mut command = Command::new(path);
        for (name, value) in self.options {
            let option = value.as_ref().map_or(name.clone(), |value| format!("{name}={value}"));
            command.args(["-x", &option]);
        }
        command.args(["-Z", "-e", "-s"]).arg(file.path());
        if form.header.target != TargetNeed::No {
            command.args(["-p", &self.pid.to_string()]);
        }
        // A name of a function in a probe has no default.
        if form.text.contains("::$$1:") {
            command.arg("main");
        }
        let (status, said) = patiently(command.stdin(Stdio::null()).stdout(Stdio::null()))?;
        let place = format!("{}: ", file.path().display());
        match status {
            Some(0) => Ok(()),
            _ => Err(said.replace(&place, "").replace("dtrace: failed to compile script ", "")),
        }
    }

    /// Each in a process of its own, by `seatrace run -s`: Linux' libdtrace 2.0.7 cannot begin a second trace in one process.
    fn run(&self, trial: &Trial, via: &str) -> std::result::Result<(), String> {
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut file = tempfile::Builder::new()
            .suffix(".d")
            .tempfile_in(live::temporary_folder())
            .map_err(|error| error.to_string())?;
        let text = format!("#pragma D option quiet\n{}\n", trial.text);
        file.write_all(text.as_bytes()).map_err(|error| error.to_string())?;
        let mut command = Command::new(&own);
        command.args(["run", "--quiet", "--via", via, "-s"]).arg(file.path());
        for (name, value) in self.options {
            let option = value.as_ref().map_or(name.clone(), |value| format!("{name}={value}"));
            command.args(["-x", &option]);
        }
        trial.args.iter().for_each(|argument| _ = command.args(["--arg", argument]));
        match trial.about {
            About::System => {}
            About::Process => _ = command.args(["-p", &self.pid.to_string()]),
            About::Command => _ = command.arg("--").arg(&own).arg("--version"),
        }
        let mut output = tempfile::tempfile().map_err(|error| error.to_string())?;
        let stdout = output.try_clone().map_err(|error| error.to_string())?;
        let (status, said) = patiently(command.stdin(Stdio::null()).stdout(stdout))?;
        let mut bytes = Vec::new();
        output.rewind().and_then(|()| output.read_to_end(&mut bytes)).map_err(|error| error.to_string())?;
        let came = String::from_utf8_lossy(&bytes);
        let expected = trial.expected.replace("PID", &self.pid.to_string());
        if !came.contains(&expected) {
            return Err(format!("expected {expected:?}, came {came:?} {said}"));
        }
        if status != Some(trial.status) {
            return Err(format!("expected the status {}, came {status:?} {said}", trial.status));
        }
        Ok(())
    }
}

/// Waits for a command, not for ever: its status, and what it said on standard error.
fn patiently(command: &mut Command) -> std::result::Result<(Option<i32>, String), String> {
    let mut child = command.stderr(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
    let mut stderr = child.stderr.take();
    let reader = std::thread::spawn(move || {
        let mut said = Vec::new();
        let _ = stderr.as_mut().map(|stderr| stderr.read_to_end(&mut said));
        String::from_utf8_lossy(&said).into_owned()
    });
    let began = Instant::now();
    let status = loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) => break status,
            None if began.elapsed() > PATIENCE => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("not ready after {} s", PATIENCE.as_secs()));
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    Ok((status.code(), reader.join().unwrap_or_default()))
}

/// A message on one line, without control bytes.
fn one_line(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

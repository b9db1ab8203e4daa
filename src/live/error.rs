//! Why a trace did not start or broke off, with the way out.
//!
//! libdtrace's numbers differ between the systems, so its texts are what is compared.

use std::fmt;

use super::flavor::Flavor;

/// What kind of failure it was: decides about a second attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// No library, or not one that we can call: the system's dtrace(1) may work.
    Library,
    /// The library is there and does not open, or does not take the target.
    Attach,
    /// The D program is wrong, or matches no probe.
    Program,
    /// No such process, or no such command.
    Target,
    /// The user may not trace.
    Privilege,
    /// The kernel refused buffers of this size.
    TooBig,
    /// A wrong option or argument.
    Usage,
    /// Tracing began and broke off.
    Aborted,
    /// Ctrl-C before there was anything to print.
    Interrupted,
}

/// The step in which libdtrace failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// `dtrace_open`.
    Open,
    /// `dtrace_setopt`.
    Option,
    /// `dtrace_proc_grab`.
    Grab,
    /// `dtrace_proc_create`.
    Create,
    /// `dtrace_init`.
    Init,
    /// `dtrace_program_strcompile`.
    Compile,
    /// `dtrace_program_exec`, and the handlers before it.
    Enable,
    /// `dtrace_go`.
    Go,
    /// `dtrace_work` and what follows.
    Work,
}

/// A failed trace: one line with the cause, one with the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveError {
    kind: Failure,
    cause: String,
    remedy: Option<String>,
}

impl std::error::Error for LiveError {}

impl fmt::Display for LiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.cause)?;
        if let Some(remedy) = &self.remedy {
            write!(f, "\n  {remedy}")?;
        }
        Ok(())
    }
}

/// What an explanation may need to know.
#[derive(Clone, Copy)]
pub struct Circumstances<'a> {
    /// The system.
    pub flavor: Flavor,
    /// Effective user id is 0.
    pub is_root: bool,
    /// What the step was about: option, pid, command, name of the program.
    pub subject: &'a str,
    /// Source of the D program, for errors that name a line of it.
    pub source: &'a str,
}

impl LiveError {
    /// What kind of failure it was.
    pub fn kind(&self) -> Failure {
        self.kind
    }

    /// Whether the system's dtrace(1) may do what the library could not.
    pub fn may_work_by_command(&self) -> bool {
        matches!(self.kind, Failure::Library | Failure::Attach)
    }

    /// The cause alone, on one line where DTrace's own text is one.
    pub fn cause(&self) -> &str {
        &self.cause
    }

    fn new(kind: Failure, cause: impl Into<String>, remedy: impl Into<String>) -> LiveError {
        let remedy = remedy.into();
        LiveError { kind, cause: cause.into(), remedy: (!remedy.is_empty()).then_some(remedy) }
    }

    /// The command line or the environment asked for something that cannot be.
    pub fn usage(cause: impl Into<String>, remedy: impl Into<String>) -> LiveError {
        LiveError::new(Failure::Usage, cause, remedy)
    }

    /// Ctrl-C came before the first probe was enabled.
    pub fn interrupted() -> LiveError {
        LiveError::new(Failure::Interrupted, "interrupted before tracing began", "")
    }

    /// No libdtrace could be loaded.
    pub fn no_library(flavor: Flavor, causes: &[String]) -> LiveError {
        let remedy = if cfg!(target_feature = "crt-static") {
            "this is a static build, which cannot load a library; `seatrace replay` works".to_string()
        } else {
            format!("{}; `seatrace replay` works without it", flavor.traits().install)
        };
        LiveError::new(
            Failure::Library,
            format!("there is no libdtrace on this system ({})", causes.join("; ")),
            remedy,
        )
    }

    /// The system is none of the four.
    pub fn no_flavor() -> LiveError {
        LiveError::new(
            Failure::Library,
            "this system has no DTrace that seatrace knows",
            "record on macOS, illumos, FreeBSD or Linux; `seatrace replay` works here",
        )
    }

    /// The library lacks a function that the flavor has.
    pub fn foreign_library(flavor: Flavor, symbol: &str) -> LiveError {
        LiveError::new(
            Failure::Library,
            format!("libdtrace has no function {symbol}: it is not the DTrace of {flavor} that seatrace knows"),
            "use --via dtrace, and tell us the version that `dtrace -V` prints",
        )
    }

    /// The system's dtrace(1) is missing or did not start.
    pub fn no_command(flavor: Flavor, cause: &str) -> LiveError {
        LiveError::new(
            Failure::Library,
            format!("the system's dtrace(1) did not start ({cause})"),
            format!("{}; `seatrace replay` works without it", flavor.traits().install),
        )
    }

    /// An operation of the operating system failed: pipe, thread, temporary file.
    pub fn system(what: &str, error: &std::io::Error) -> LiveError {
        LiveError::new(Failure::Attach, format!("{what}: {error}"), "")
    }

    /// libdtrace, or dtrace(1), said `text` in `step`.
    pub fn said(step: Step, text: &str, at: Circumstances<'_>) -> LiveError {
        let text = text.trim_end();
        let (kind, remedy) = explain(step, text, at);
        let cause = match step {
            Step::Open => format!("DTrace does not start: {text}"),
            Step::Option => format!("option {}: {text}", at.subject),
            Step::Grab => format!("process {} cannot be traced: {text}", at.subject),
            Step::Create => format!("{} cannot be started: {text}", at.subject),
            Step::Init => format!("DTrace does not load its D libraries: {text}"),
            Step::Compile => format!("{}: {text}{}", at.subject, shown_line(text, at.source)),
            Step::Enable => format!("{} cannot be enabled: {text}", at.subject),
            Step::Go => format!("tracing does not begin: {text}"),
            Step::Work => format!("tracing broke off: {text}"),
        };
        LiveError::new(kind, cause, remedy)
    }
}

/// Texts by what they contain, and what helps. Earlier rows win.
const REMEDIES: [(&str, Failure, &str); 22] = [
    ("BPF map 'mem'", Failure::Usage, "texts of this size do not fit the kernel's maps: -x strsize=2048, or less"),
    (
        "major_names",
        Failure::Program,
        "this kernel keeps no names of its variables, which DTrace's io.d needs: `seatrace doctor` tells how to go without that file",
    ),
    (
        "restricted entitlements",
        Failure::Attach,
        "the server is signed with restricted entitlements: use your own build, or a copy signed without them",
    ),
    (
        "current security restriction",
        Failure::Attach,
        "sign the server with com.apple.security.get-task-allow, or lift the protection in Recovery: csrutil enable --without dtrace",
    ),
    ("translated processes", Failure::Attach, "the server runs under Rosetta: use an arm64 build of it"),
    (
        "symbolicator",
        Failure::Attach,
        "macOS did not give access to the process: sign your own build with com.apple.security.get-task-allow",
    ),
    (
        "System Integrity Protection",
        Failure::Program,
        "System Integrity Protection hides this probe: csrutil enable --without dtrace in Recovery, or a script that needs no kernel probe",
    ),
    ("No such process", Failure::Target, "no process has this pid: look with `seatrace doctor`, or use --name"),
    ("already holds it", Failure::Target, "end that one first: only one can hold a process"),
    (
        "failed to grab",
        Failure::Attach,
        "it may have ended, be another user's, or be held by a debugger: `seatrace doctor -p PID` looks closer",
    ),
    (
        "does not match any probes",
        Failure::Program,
        "this build of the server has no such probe: `seatrace doctor -p PID` tells which scripts work with it",
    ),
    (
        "No probe matches",
        Failure::Program,
        "this build of the server has no such probe: `seatrace doctor -p PID` tells which scripts work with it",
    ),
    (
        "Invalid option name",
        Failure::Usage,
        "this system's DTrace has no such option; its manual page dtrace(1) lists them",
    ),
    ("Invalid value for", Failure::Usage, "sizes look like 4m, rates like 10hz or 100ms"),
    ("kernel debugger", Failure::Attach, "leave the kernel debugger first"),
    ("Enabling exceeds size of buffer", Failure::Usage, "give more room: -x bufsize=4m, -x dynvarsize=4m"),
    ("Destructive actions not allowed", Failure::Usage, "the program changes the system: -x destructive allows it"),
    ("systemic unresponsiveness", Failure::Aborted, "the probes cost too much: trace fewer of them, or use --min"),
    (
        "is not defined",
        Failure::Program,
        "the program takes arguments that were not given: --arg VALUE, or `#pragma D option defaultargs` in it",
    ),
    (
        "locked-memory",
        Failure::TooBig,
        "lower the sizes, e.g. -x bufsize=1m -x aggsize=1m, or raise the limit with -x lockmem=unlimited",
    ),
    ("Too big", Failure::TooBig, "lower the sizes, e.g. -x aggsize=1m -x strsize=256"),
    ("Cannot allocate memory", Failure::TooBig, "lower the sizes, e.g. -x bufsize=1m -x aggsize=1m"),
];

/// Texts that mean a lack of privileges, on one system or another.
const PRIVILEGES: [&str; 5] =
    ["additional privileges", "Permission denied", "Operation not permitted", "locked-memory", "invalid user access"];

fn explain(step: Step, text: &str, at: Circumstances<'_>) -> (Failure, String) {
    // On Linux a user without privileges learns at dtrace_go that a memory limit is too low, or sooner something odder: the
    // cause is always the same.
    let lacks = PRIVILEGES.iter().any(|words| text.contains(words));
    let early = matches!(step, Step::Open | Step::Grab | Step::Init | Step::Go | Step::Enable);
    if !at.is_root && early && (lacks || at.flavor == Flavor::Linux) {
        return (
            Failure::Privilege,
            format!("DTrace needs more privileges than this user has: {}", at.flavor.traits().privileges),
        );
    }
    if let Some((_, kind, remedy)) = REMEDIES.iter().find(|(words, ..)| text.contains(words)) {
        return (*kind, (*remedy).to_string());
    }
    match step {
        Step::Open if text.contains("device not available") => {
            (Failure::Attach, format!("the kernel offers no DTrace here (a container, jail or zone?); {}", at.flavor.traits().install))
        }
        Step::Open | Step::Grab => (Failure::Attach, at.flavor.traits().privileges.to_string()),
        Step::Create => (Failure::Target, "check the name of the command and that it may be executed".to_string()),
        Step::Init => (
            Failure::Program,
            "the D libraries do not fit this kernel: update DTrace, or point -x syslibdir=DIR to a copy without the file named".to_string(),
        ),
        Step::Option => (Failure::Usage, String::new()),
        Step::Compile | Step::Enable | Step::Go => (Failure::Program, String::new()),
        Step::Work => (Failure::Aborted, String::new()),
    }
}

/// The line of the program that a compiler's message names, as `\n    12 | text`.
fn shown_line(text: &str, source: &str) -> String {
    let number = text.split_once("line ").and_then(|(_, rest)| {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        rest.get(..digits)?.parse::<usize>().ok()
    });
    let line = number.and_then(|number| Some((number, source.lines().nth(number.checked_sub(1)?)?)));
    match line {
        Some((number, line)) => format!("\n  {number:>4} | {}", printable(line)),
        None => String::new(),
    }
}

/// The user's own file may hold anything: no control byte reaches the terminal.
fn printable(line: &str) -> String {
    line.chars()
        .map(|c| {
            if c == '\t' {
                ' '
            } else if c.is_control() {
                '?'
            } else {
                c
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(flavor: Flavor, is_root: bool) -> Circumstances<'static> {
        Circumstances { flavor, is_root, subject: "x.d", source: "BEGIN\n{\n\ttrace(1;\n}\n" }
    }

    #[test]
    fn misleading_memory_text_of_linux_means_privileges() {
        let text =
            "failed to create BPF map 'state': Operation not permitted: the locked-memory limit is possibly too low";
        let said = LiveError::said(Step::Go, text, at(Flavor::Linux, false));
        assert_eq!(said.kind(), Failure::Privilege);
        assert!(said.to_string().contains("sudo"), "{said}");
        let said = LiveError::said(Step::Go, text, at(Flavor::Linux, true));
        assert_eq!(said.kind(), Failure::TooBig);
    }

    #[test]
    fn compile_error_shows_its_line() {
        let said = LiveError::said(Step::Compile, "line 3: syntax error near \";\"", at(Flavor::MacOs, true));
        assert_eq!(said.to_string(), "x.d: line 3: syntax error near \";\"\n     3 |  trace(1;");
    }

    #[test]
    fn br_03_the_six_messages_of_macos_have_a_way_out() {
        for (text, words) in [
            ("DTrace requires additional privileges", "sudo"),
            ("DTrace cannot control executables signed with restricted entitlements", "your own build"),
            (
                "the current security restriction (system integrity protection enabled) prevents dtrace from attaching",
                "csrutil",
            ),
            ("DTrace cannot instrument translated processes", "arm64"),
            ("Could not create symbolicator for task", "get-task-allow"),
            ("probe description fbt::: does not match any probes. System Integrity Protection is on", "csrutil"),
        ] {
            let said = LiveError::said(Step::Open, text, at(Flavor::MacOs, false)).to_string();
            assert!(said.contains(words), "{said}");
        }
    }
}

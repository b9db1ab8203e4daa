//! The binding against a stand-in for libdtrace, for each of the four systems: every call that `live` makes, and faults that a real
//! library does not show on demand. `standin.c` says how it is told what to do.

mod command;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use seatrace::live::{Ended, Failure, Flavor, LiveError, Plan, Program, Report, Session, Target, Via};

/// Builds the stand-in of a flavor, once.
fn standin(flavor: Flavor) -> PathBuf {
    static BUILD: Mutex<()> = Mutex::new(());
    let _one = BUILD.lock().unwrap_or_else(PoisonError::into_inner);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/standin/standin.c");
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("standin-{}.so", flavor.word()));
    let written = |path: &Path| path.metadata().and_then(|data| data.modified()).ok();
    if written(&library) > written(&source) {
        return library;
    }
    let define = format!("-D{}", flavor.word().to_uppercase());
    let options = ["-shared", "-fPIC", "-g", "-Wall", "-Werror", &define, "-o"];
    let done = Command::new("cc").args(options).args([&library, &source]).status().expect("cc builds the stand-in");
    assert!(done.success());
    library
}

/// A trace with the stand-in, as a test tells it.
struct Case {
    plan: Plan,
    log: PathBuf,
}

impl Case {
    fn new(flavor: Flavor, orders: &str) -> Case {
        let args = vec!["one".into(), "two words".into()];
        let file = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let log = file.into_temp_path().keep().unwrap();
        let plan = Plan {
            flavor,
            library: Some(standin(flavor)),
            programs: vec![Program { name: "orders.d".into(), text: orders.into(), args }],
            options: vec![("log".into(), Some(log.display().to_string()))],
            target: Target::System,
            duration: None,
            remarks: Vec::new(),
        };
        Case { plan, log }
    }

    fn target(mut self, target: Target) -> Case {
        self.plan.target = target;
        self
    }

    fn option(mut self, name: &str, value: Option<&str>) -> Case {
        self.plan.options.push((name.into(), value.map(str::to_owned)));
        self
    }

    fn lasting(mut self, milliseconds: u64) -> Case {
        self.plan.duration = Some(Duration::from_millis(milliseconds));
        self
    }

    fn start(&self) -> Result<Session, LiveError> {
        Session::start(self.plan.clone(), Via::Library)
    }

    /// Text, report and calls of a trace that ends by itself.
    fn run(self) -> (String, Report, Vec<String>) {
        let session = self.start().unwrap();
        let mut text = String::new();
        session.text().read_to_string(&mut text).unwrap();
        let report = session.finish(|| ());
        (text, report, self.calls())
    }

    fn calls(&self) -> Vec<String> {
        let calls = std::fs::read_to_string(&self.log).unwrap();
        std::fs::remove_file(&self.log).unwrap();
        calls.lines().map(str::to_owned).collect()
    }

    /// The error of a trace that does not start.
    fn refused(self) -> LiveError {
        let error = self.start().err().expect("refused");
        let _ = std::fs::remove_file(&self.log);
        error
    }
}

#[test]
fn calls_come_in_the_order_that_suits_all_four() {
    for flavor in Flavor::ALL {
        let case = Case::new(flavor, "text hello\nend bye\nrows 7\ndie\n").target(Target::Process(4242));
        let (text, report, calls) = case.run();
        assert_eq!(text, "hello\nbye\n\n7\n", "{flavor}");
        assert_eq!((report.ended, report.counts.events), (Ended::TargetExit, 1), "{flavor}");
        assert!(report.failure.is_none());
        let compile = "compile flags=0 [orders.d] [one] [two words]";
        let linux = flavor == Flavor::Linux;
        let mut expected = vec!["grab"];
        expected.extend(linux.then_some("init"));
        expected.extend([compile, "handle_err", "handle_drop", "handle_proc", "exec", "go", "continue"]);
        expected.extend((!linux).then_some("sleep"));
        expected.push("work");
        expected.extend(["stop", "work", "aggregate_print", "release", "close"]);
        assert_eq!(calls, expected, "{flavor}");
    }
}

#[test]
fn options_are_set_after_the_presets() {
    for flavor in Flavor::ALL {
        let case = Case::new(flavor, "exit 0\n").option("strsize", Some("1024")).option("destructive", None);
        let (_, _, calls) = case.run();
        // The log begins with the option that names it.
        assert_eq!(calls[..2], ["setopt strsize=1024", "setopt destructive"], "{flavor}");
    }
}

#[test]
fn a_command_gets_its_arguments_whole() {
    for flavor in Flavor::ALL {
        let command = Target::Command(vec!["server".into(), "--datadir=my data".into(), String::new()]);
        let (_, report, calls) = Case::new(flavor, "die\n").target(command).run();
        assert_eq!(report.ended, Ended::TargetExit);
        assert_eq!(calls[0], "create [server] [--datadir=my data] []", "{flavor}");
        assert!(calls.contains(&"continue".to_owned()) && !calls.contains(&"process still held".to_owned()));
        let error = Case::new(flavor, "").target(Target::Command(vec!["nosuch".into()])).refused();
        assert_eq!(error.kind(), Failure::Target);
        assert!(error.to_string().starts_with("nosuch cannot be started: No such file"), "{error}");
    }
}

#[test]
fn diagnostics_come_between_lines() {
    for flavor in Flavor::ALL {
        let orders = "text one\ndrop 3\npart two\nerror invalid address (0x0)\npart  halves\ntext .\ndrop 4\nproc stopped\nexit 9\n";
        let (text, report, _) = Case::new(flavor, orders).run();
        let expected = "one\ndtrace: 3 drops on CPU 0\ntwo halves.\ndtrace: invalid address (0x0)\n\
                        dtrace: 4 drops on CPU 0\ndtrace: target: stopped\n\n";
        assert_eq!(text, expected, "{flavor}");
        assert_eq!((report.counts.drops, report.counts.errors, report.ended), (7, 1, Ended::Exit(9)), "{flavor}");
    }
}

#[test]
fn time_ends_a_trace() {
    for flavor in Flavor::ALL {
        let begin = Instant::now();
        let (text, report, _) = Case::new(flavor, "text on\nnext\n").lasting(200).run();
        assert_eq!((text.as_str(), report.ended), ("on\n\n", Ended::Duration), "{flavor}");
        assert!(begin.elapsed() >= Duration::from_millis(200) && begin.elapsed() < Duration::from_secs(10));
    }
}

#[test]
fn an_interrupted_call_is_no_failure() {
    for flavor in Flavor::ALL {
        let (text, report, _) = Case::new(flavor, "text a\neintr\ntext b\nexit 0\n").run();
        assert_eq!((text.as_str(), report.failure.is_none()), ("a\nb\n\n", true), "{flavor}");
    }
}

#[test]
fn what_was_printed_before_a_failure_stands() {
    for flavor in Flavor::ALL {
        let (text, report, calls) =
            Case::new(flavor, "text kept\nrows 1\nfail Abort due to systemic unresponsiveness\n").run();
        assert_eq!(text, "kept\n\n1\n", "{flavor}");
        let failure = report.failure.unwrap();
        assert_eq!((report.ended, failure.kind()), (Ended::Aborted, Failure::Aborted), "{flavor}");
        assert!(failure.to_string().contains("cost too much"), "{failure}");
        assert_eq!(calls.last().map(String::as_str), Some("close"));
    }
}

#[test]
fn errors_name_cause_and_way_out() {
    for flavor in Flavor::ALL {
        let error = Case::new(flavor, "").option("nosuch", Some("1")).refused();
        assert_eq!(error.kind(), Failure::Usage);
        assert!(error.to_string().starts_with("option -x nosuch=1: Invalid option name\n"), "{error}");
        let error = Case::new(flavor, "a\nb\ncompile-error line 2: syntax error near \"b\"\n").refused();
        assert!(error.to_string().contains("\n     2 | b"), "{error}");
        let error = Case::new(flavor, "").target(Target::Process(99999)).refused();
        assert!(error.to_string().starts_with("process 99999 cannot be traced"), "{error}");
        let error = Case::new(flavor, "matches 0\n").refused();
        assert!(error.to_string().contains("No probe matches"), "{error}");
        let error = Case::new(flavor, "go-error failed to create BPF map 'aggs': Too big\n").refused();
        assert!(matches!(error.kind(), Failure::TooBig | Failure::Privilege), "{error}");
    }
}

#[test]
fn a_failed_start_lets_the_process_go() {
    for flavor in Flavor::ALL {
        let case = Case::new(flavor, "exec-error Failed to enable probe\n").target(Target::Process(4242));
        let error = case.start().err().unwrap();
        assert!(error.to_string().contains("orders.d cannot be enabled"), "{error}");
        let calls = case.calls();
        assert_eq!(calls[calls.len() - 2..], ["release", "close"], "{flavor}");
    }
}

#[test]
fn a_slow_reader_does_not_hold_up_the_trace() {
    for flavor in Flavor::ALL {
        // 15 MB for each of three programs: more than is kept in memory.
        let mut case = Case::new(flavor, &"burst 200000\n".repeat(3));
        case.plan.programs[0].text += "exit 0\n";
        let session = case.start().unwrap();
        let begin = Instant::now();
        while !session.progress().is_over() {
            assert!(begin.elapsed() < Duration::from_secs(60), "libdtrace waits for its reader");
            std::thread::sleep(Duration::from_millis(5));
        }
        let mut text = String::new();
        session.text().read_to_string(&mut text).unwrap();
        session.finish(|| ());
        let expected = (0..3).flat_map(|_| 0..200_000).map(|number| format!("burst {number} "));
        assert!(text.lines().zip(expected).all(|(line, expected)| line.starts_with(&expected)), "{flavor}");
        assert_eq!(text.lines().count(), 600_001);
        case.calls();
    }
}

#[test]
fn a_reader_that_goes_away_ends_the_trace() {
    for flavor in Flavor::ALL {
        let case = Case::new(flavor, "text first\nnext\nmany 100000000\n");
        let session = case.start().unwrap();
        session.text().read_exact(&mut [0; 6]).unwrap();
        let begin = Instant::now();
        drop(session);
        assert!(begin.elapsed() < Duration::from_secs(10), "{flavor}");
        assert_eq!(case.calls().last().map(String::as_str), Some("close"));
    }
}

#[test]
fn a_library_of_another_system_is_recognized() {
    for (flavor, other) in [(Flavor::Linux, Flavor::FreeBsd), (Flavor::FreeBsd, Flavor::Linux)] {
        let mut case = Case::new(flavor, "");
        case.plan.library = Some(standin(other));
        let error = case.refused();
        assert_eq!(error.kind(), Failure::Library);
        assert!(error.to_string().contains("libdtrace has no function dtrace_"), "{error}");
    }
}

#[test]
fn no_library_is_said_with_its_reason() {
    for flavor in Flavor::ALL {
        let mut case = Case::new(flavor, "");
        case.plan.library = Some("/nonexistent/libdtrace.so".into());
        let error = case.refused();
        assert!(error.to_string().contains("No such file") && error.to_string().contains("replay"), "{error}");
    }
}

/// Memory errors in the binding: tests above once more, under valgrind.
#[test]
fn valgrind_finds_nothing() {
    if std::env::var_os("SEATRACE_UNDER_VALGRIND").is_some() {
        return;
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        eprintln!("skipped: no valgrind on this machine");
        return;
    }
    let tests =
        ["calls_come", "diagnostics_come", "a_command_gets", "errors_name", "a_failed_start", "what_was_printed"];
    let output = Command::new("valgrind")
        .args(["--quiet", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite"])
        .arg(std::env::current_exe().unwrap())
        .arg("--test-threads=1")
        .args(tests)
        .env("SEATRACE_UNDER_VALGRIND", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

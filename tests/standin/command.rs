//! The command `seatrace run` with the stand-in as its libdtrace: what a person sees, and what is left on the disk, when things go wrong.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use seatrace::live::Flavor;

use super::standin;

/// Far more than anything here takes.
const LONG: Duration = Duration::from_secs(60);
const HEAD: &str = "text # seatrace\t1\ntext # record\tquery\tend:wall\telapsed:ns\tquery:text\n";

/// Traces in a folder of their own.
struct Bench {
    folder: tempfile::TempDir,
    library: PathBuf,
}

impl Bench {
    /// None, and why, where the stand-in cannot be used: another system, or folders that root does not trust.
    fn new() -> Option<Bench> {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let bench = Bench { folder, library: standin(Flavor::native()?) };
        let output = bench.trace("exit 0\n", &[]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        if said.contains("is refused") {
            eprintln!("skipped: {said}");
            return None;
        }
        assert_eq!(output.status.code(), Some(0), "{said}");
        Some(bench)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// The names of the files here, without the trace's own.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
        names.retain(|name| !["orders.d", "log", "out", "err"].contains(&name.as_str()));
        names.sort();
        names
    }

    /// A trace that obeys `orders`.
    fn trace(&self, orders: &str, args: &[&str]) -> Command {
        fs::write(self.path("orders.d"), orders).unwrap();
        let _ = fs::remove_file(self.path("log"));
        let mut command = self.seatrace(&["run", "-s", "orders.d", "--via", "library", "-x", "log=log"]);
        command.args(args).env("SEATRACE_LIBDTRACE", &self.library);
        command
    }

    fn seatrace(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_seatrace"));
        command.args(args).current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    /// The same in the background, its output in the files `out` and `err`.
    fn background(&self, orders: &str, args: &[&str]) -> Running {
        let mut command = self.trace(orders, args);
        let files = ["out", "err"].map(|name| fs::File::create(self.path(name)).unwrap());
        let [out, err] = files;
        Running(command.stdout(out).stderr(err).spawn().unwrap())
    }

    /// What a dump shows, one query a line.
    fn texts(&self, name: &str) -> Vec<String> {
        let output = self.seatrace(&["replay", name, "-f", "json"]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().filter_map(|line| Some(line.split_once("\"query\":\"")?.1.split('"').next()?.to_owned())).collect()
    }
}

struct Running(Child);

impl Running {
    fn signal(&self, name: &str) {
        let pid = self.0.id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap().success());
    }

    /// The exit status; None after death by a signal.
    fn wait(&mut self) -> Option<i32> {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status.code();
            }
            assert!(begin.elapsed() < LONG, "still running");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn wait_for(path: &Path, text: &str) {
    let begin = Instant::now();
    while !fs::read_to_string(path).unwrap_or_default().contains(text) {
        assert!(begin.elapsed() < LONG, "{}: no {text:?}", path.display());
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn query(number: usize) -> String {
    format!("query\t179603599279098427{number}\t5000\tSELECT {number}\\0")
}

/// Exit status, standard output, standard error.
fn said(output: &Output) -> (Option<i32>, String, String) {
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    (output.status.code(), out, err)
}

#[test]
fn a_dump_grows_while_the_trace_runs_and_outlives_a_kill() {
    let Some(bench) = Bench::new() else { return };
    for view in [&["-f", "log"][..], &["-f", "digest"], &[]] {
        let orders = format!("{HEAD}text {}\nnext\ntext {}\n", query(1), query(2));
        let args = [&["--save", "saved"], view].concat();
        let mut trace = bench.background(&orders, &args);
        wait_for(&bench.path("saved.part"), "SELECT 2");
        assert_eq!(bench.texts("saved.part"), ["SELECT 1", "SELECT 2"], "while it runs, {view:?}");
        trace.signal("KILL");
        assert_eq!(trace.wait(), None);
        assert_eq!(bench.texts("saved.part"), ["SELECT 1", "SELECT 2"], "after kill -9, {view:?}");
        assert_eq!(bench.names(), ["saved.part"]);
        fs::remove_file(bench.path("saved.part")).unwrap();
    }
}

/// The reader of a pipe wants no more: the trace ends as at the end of its time, and the dump is whole.
#[test]
fn a_dump_outlives_the_reader_of_the_output() {
    let Some(bench) = Bench::new() else { return };
    for view in [&["-f", "log"][..], &[]] {
        let orders = format!("{HEAD}text {}\nend # stop\t1\nrows\neach {}\n", query(1), query(2));
        let mut command = bench.trace(&orders, &[&["--save", "saved"], view].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (code, _, err) = said(&child.wait_with_output().unwrap());
        assert_eq!((code, err.as_str()), (Some(0), ""), "{view:?}");
        assert_eq!(bench.names(), ["saved"], "{view:?}");
        let saved = bench.read("saved");
        assert!(saved.contains("SELECT 2") && saved.trim_end().ends_with("# stop\t1"), "{view:?}: {saved}");
        assert!(bench.read("log").contains("aggregate_print\n") && bench.read("log").ends_with("close\n"));
        fs::remove_file(bench.path("saved")).unwrap();
    }
}

/// The output does not fit: exit 1, and the dump is whole.
#[test]
fn a_dump_outlives_a_full_disk_under_the_output() {
    let Some(bench) = Bench::new() else { return };
    if !Path::new("/dev/full").exists() {
        eprintln!("skipped: no /dev/full on this system");
        return;
    }
    let orders = format!("{HEAD}text {}\nend # stop\t1\neach {}\n", query(1), query(2));
    let args = ["--save", "saved", "-f", "log", "-o", "/dev/full"];
    let (code, _, err) = said(&bench.trace(&orders, &args).output().unwrap());
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("saved: the dump is complete up to the failure") && err.contains("No space left"), "{err}");
    assert_eq!(bench.names(), ["saved"]);
    assert!(bench.read("saved").contains("# stop\t1"));
}

/// The dump does not fit: the trace goes on without it, what fitted stays readable, exit 1. A limit on the size of files
/// stands for the disk.
#[test]
fn a_full_disk_under_the_dump_keeps_what_fitted() {
    let Some(bench) = Bench::new() else { return };
    let orders = format!("{HEAD}text {}\nburst 2000\nnext\ntext {}\nexit 0\n", query(1), query(9));
    let trace = bench.trace(&orders, &["--save", "saved", "-f", "log"]);
    let mut command = Command::new("sh");
    command
        .args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\""])
        .arg(trace.get_program())
        .args(trace.get_args());
    command.current_dir(bench.folder.path()).env("SEATRACE_LIBDTRACE", &bench.library).stdin(Stdio::null());
    let (code, out, err) = said(&command.output().unwrap());
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("saved.part: kept as far as it goes: File too large"), "{err}");
    assert!(out.contains("SELECT 9"), "the view is whole: {out}");
    assert_eq!(bench.names(), ["saved.part"]);
    assert_eq!(bench.texts("saved.part"), ["SELECT 1"]);
}

#[test]
fn two_traces_do_not_write_one_dump() {
    let Some(bench) = Bench::new() else { return };
    let orders = format!("{HEAD}text {}\nend # stop\t1\n", query(1));
    let mut first = bench.background(&orders, &["--save", "saved", "-f", "log"]);
    wait_for(&bench.path("saved.part"), "SELECT 1");
    let (code, _, err) = said(&bench.trace(&orders, &["--save", "saved", "-d", "1s"]).output().unwrap());
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("saved.part: another trace writes it now"), "{err}");
    let (code, _, err) = said(&bench.trace(&orders, &["--save", "other", "-d", "200ms"]).output().unwrap());
    assert_eq!(code, Some(0), "{err}");
    first.signal("INT");
    assert_eq!(first.wait(), Some(0), "{}", bench.read("err"));
    assert_eq!(bench.names(), ["other", "saved"]);
    assert_eq!(bench.texts("saved"), ["SELECT 1"]);
    // A part that a trace left, which nobody writes any more, is no obstacle.
    fs::write(bench.path("saved.part"), "old").unwrap();
    let (code, _, err) = said(&bench.trace(&orders, &["--save", "saved", "-d", "200ms"]).output().unwrap());
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(bench.names(), ["other", "saved"]);
}

/// A signal in every phase: before probes fire nothing is left and the status is 130; from then on the results come, whole.
#[test]
fn a_signal_in_every_phase() {
    let before = ["grab", "compile", "exec"].map(|phase| (phase, false));
    let after = ["go", "work", "stop", "aggregate_print", "release", "close"].map(|phase| (phase, true));
    // What nohup(1) has ignored stays ignored, which is right; caught here, it is not so in what is started from here.
    let caught = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGHUP, caught).unwrap();
    // Side by side: each of them lasts a second, in which it does nothing.
    std::thread::scope(|scope| {
        for (phase, has_results) in before.into_iter().chain(after) {
            scope.spawn(move || signals_in(phase, has_results));
        }
    });
}

fn signals_in(phase: &str, has_results: bool) {
    let Some(bench) = Bench::new() else { return };
    let orders = format!("{HEAD}text {}\nend # stop\t1\n", query(1));
    let slow = format!("slow={phase}");
    for signal in ["INT", "TERM", "HUP"] {
        // The stand-in takes hold of any process.
        let args = ["-p", "1", "--save", "saved", "-f", "log", "-d", "300ms", "-x", &slow];
        let mut trace = bench.background(&orders, &args);
        wait_for(&bench.path("log"), phase);
        trace.signal(signal);
        let code = trace.wait();
        let err = bench.read("err");
        let expected = if has_results { (Some(0), vec!["saved"]) } else { (Some(130), vec![]) };
        assert_eq!(
            (code, bench.names()),
            (expected.0, expected.1.iter().map(|name| (*name).to_owned()).collect()),
            "{signal} in {phase}: {err}"
        );
        if has_results {
            assert!(bench.read("out").contains("SELECT 1"), "{signal} in {phase}");
            assert!(bench.read("saved").contains("# stop\t1"), "{signal} in {phase}");
            fs::remove_file(bench.path("saved")).unwrap();
        }
        assert!(bench.read("log").ends_with("release\nclose\n"), "{signal} in {phase}: {}", bench.read("log"));
    }
}

/// A second signal stops the output: what was printed until then stays, under the name of a part, and that is said.
#[test]
fn a_second_signal_keeps_the_part() {
    let Some(bench) = Bench::new() else { return };
    let orders = format!("{HEAD}text {}\nmany 1000000000\n", query(1));
    let mut trace = bench.background(&orders, &["--save", "saved", "-f", "log"]);
    wait_for(&bench.path("saved.part"), "SELECT 1");
    trace.signal("INT");
    wait_for(&bench.path("log"), "aggregate_print");
    trace.signal("INT");
    assert_eq!(trace.wait(), Some(130));
    let err = bench.read("err");
    assert!(err.contains("saved.part: kept as far as it goes: stopped by a second Ctrl-C"), "{err}");
    assert_eq!(bench.names(), ["saved.part"]);
    assert_eq!(bench.texts("saved.part"), ["SELECT 1"]);
}

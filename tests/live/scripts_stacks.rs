//! The scripts of stacks, waits and files, natively: against what the traced program counted and timed itself.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::dump::{near, rows, sum, truth};
use crate::machine::{Machine, Running, wait_for, wait_for_probes};

const MS: i64 = 1_000_000;
/// The statements of tests/programs/querywork.c.
const TEXTS: [&str; 4] = ["SELECT compute()", "SELECT wait()", "INSERT both()\\n  VALUES ('x')", "SELECT prepared()"];

/// Traces all of the work of a program that waits for SIGUSR1, prints its truth and stays; gives the dump and the truth.
pub fn traced(machine: &Machine, script: &[&str], source: &str, args: &[&str]) -> (String, Vec<Vec<String>>) {
    let (dump, said) = (machine.path("dump"), machine.path("truth"));
    let program = machine.build(source);
    let mut command = Command::new(program);
    let target =
        Running::start(command.args(args).current_dir(machine.folder.path()).stdout(fs::File::create(&said).unwrap()));
    let pid = target.pid();
    let mut words = vec!["run"];
    words.extend(script);
    words.extend(["-p", &pid, "--save", dump.to_str().unwrap(), "-o", "/dev/null"]);
    let mut trace = Running::start(machine.seatrace(&words).stdout(Stdio::null()));
    wait_for_probes(&trace.pid());
    target.signal("USR1");
    wait_for(&said, "truth", Duration::from_secs(60));
    std::thread::sleep(Duration::from_millis(500));
    trace.signal("INT");
    assert_eq!(trace.wait(Duration::from_secs(60)), Some(0));
    target.signal("TERM");
    (fs::read_to_string(dump).unwrap(), truth(&fs::read_to_string(said).unwrap()))
}

fn number(text: &str) -> i64 {
    text.parse().unwrap()
}

#[test]
fn query_on_cpu_samples_as_the_program_computes() {
    let Some(machine) = Machine::get() else { return };
    let (dump, truth) = traced(&machine, &["query-on-cpu"], "tests/programs/querywork.c", &["40"]);
    let rows = rows(&dump, "query_on_cpu");
    let texts = TEXTS;
    for (text, truth) in texts.iter().zip(&truth) {
        // 499 samples a second of CPU time; sampling on a busy machine is not exact.
        let expected = (number(&truth[2]) as f64 * 499e-9) as i64;
        near(text, sum(&rows, text, ""), expected, 0.15, 10);
    }
    assert!(sum(&rows, texts[0], "run_compute") * 10 >= sum(&rows, texts[0], "") * 9, "{dump}");
    assert_eq!(sum(&rows, texts[0], "run_both"), 0);
}

#[test]
fn query_blocked_calls_agree_with_the_program() {
    let Some(machine) = Machine::get() else { return };
    let (dump, truth) = traced(&machine, &["query-blocked-calls"], "tests/programs/querywork.c", &["40"]);
    let rows = rows(&dump, "query_blocked_calls");
    let texts = TEXTS;
    for at in [1, 2, 3] {
        near(texts[at], sum(&rows, texts[at], ""), number(&truth[at][4]), 0.05, 5 * MS);
    }
    assert!(sum(&rows, "SELECT wait()", "run_wait") * 10 >= sum(&rows, "SELECT wait()", "") * 9, "{dump}");
    // What computes makes no such call, and the sleep between statements belongs to none.
    assert_eq!(sum(&rows, "SELECT compute()", "run_compute"), 0);
}

#[test]
fn lock_waits_agree_with_the_program() {
    let Some(machine) = Machine::get() else { return };
    let (dump, truth) = traced(&machine, &["lock-waits"], "tests/programs/lockwork.c", &[]);
    let rows = rows(&dump, "lock_waits");
    for (kind, function) in [("condition", "wait_for_never"), ("rwlock", "read_table")] {
        let truth = truth.iter().find(|fields| fields[0] == kind).unwrap();
        near(kind, sum(&rows, kind, function), number(&truth[1]), 0.05, 5 * MS);
    }
}

#[test]
fn file_latency_counts_and_times() {
    let Some(machine) = Machine::get() else { return };
    let (dump, truth) = traced(&machine, &["file-latency"], "tests/programs/filework.c", &[".", "60"]);
    for fields in truth.iter().take(4) {
        let (call, file) = (fields[0].as_str(), fields[1].as_str());
        let of = |name: &str| {
            let all = rows(&dump, name);
            all.iter().filter(|row| row.keys == [call, file]).map(|row| row.value).sum::<i64>()
        };
        assert_eq!(of("file_latency"), number(&fields[2]), "{call} {file}: calls");
        assert_eq!(of("fl_bytes"), number(&fields[3]), "{call} {file}: bytes");
        near(call, of("fl_time"), number(&fields[4]), 0.05, 5 * MS);
    }
}

#[test]
fn blocked_calls_and_call_counts_agree() {
    let Some(machine) = Machine::get() else { return };
    let (dump, truth) = traced(&machine, &["blocked-calls"], "tests/programs/filework.c", &[".", "60"]);
    let timed = rows(&dump, "blocked_calls");
    for fields in truth.iter().take(2) {
        // The C library keeps no frame pointer where a call can be cancelled: the program's own frames may be missing.
        near(&fields[0], sum(&timed, &fields[0], ""), number(&fields[4]), 0.05, 5 * MS);
    }
    let (dump, truth) = traced(&machine, &["call-counts"], "tests/programs/filework.c", &[".", "60"]);
    let counted = rows(&dump, "call_counts");
    for fields in truth.iter().filter(|fields| ["pwrite64", "fdatasync", "pread64"].contains(&fields[0].as_str())) {
        assert_eq!(sum(&counted, &fields[0], ""), number(&fields[2]), "{}", fields[0]);
    }
    assert_eq!(sum(&counted, "openat", ""), 120);
}

#[test]
fn file_opens_lists_each() {
    let Some(machine) = Machine::get() else { return };
    let (dump, _) = traced(&machine, &["file-opens"], "tests/programs/filework.c", &[".", "60"]);
    let lines = |error: &str, file: &str| {
        let of = |line: &&str| {
            let fields: Vec<&str> = line.split('\t').collect();
            fields[0] == "open" && fields[3] == error && fields[6] == file
        };
        dump.lines().filter(of).count()
    };
    assert_eq!((lines("0", "one/data\\0"), lines("2", "no/such\\0")), (60, 60), "{dump}");
    let (dump, _) = traced(&machine, &["file-opens", "--failed", "failed"], "tests/programs/filework.c", &[".", "20"]);
    let opened: Vec<&str> = dump.lines().filter(|line| line.starts_with("open\t")).collect();
    assert_eq!(opened.len(), 20, "{dump}");
}

#[test]
fn function_counts_are_exact() {
    let Some(machine) = Machine::get() else { return };
    let script = ["function-counts", "--function", "run_*"];
    let (dump, _) = traced(&machine, &script, "tests/programs/querywork.c", &["25"]);
    let counted = rows(&dump, "function_counts");
    for (function, times) in [("run_compute", 50), ("run_wait", 50), ("run_both", 100)] {
        assert_eq!(sum(&counted, function, ""), times, "{function}");
    }
    // 50 sleeps of 30 ms at least.
    assert!(sum(&rows(&dump, "fc_time"), "run_wait", "") >= 50 * 30 * MS);
}

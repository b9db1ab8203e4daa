//! The forms for MySQL 8 and 9, on a program that has the function they look for under its name and with its arguments.

use std::fs;
use std::process::Command;

use crate::dump::{near, rows, sum};
use crate::fixture::unescaped;
use crate::machine::{Machine, ROOT, Running, syslibdir};
use crate::scripts_stacks::traced;
use crate::stock::queries;

const STAND_IN: &str = "tests/fixture/mysql8.c";
const STATEMENTS: &str = "400";
/// Bytes of a text that query-time keeps: strsize - 1.
const KEPT: usize = 1023;

#[test]
fn query_time_lists_each_statement_sent_as_text() {
    let Some(machine) = Machine::get() else { return };
    let (dump, _) = traced(&machine, &["query-time"], STAND_IN, &[STATEMENTS, "log"]);
    let log = fs::read_to_string(machine.path("log")).unwrap();
    let names: Vec<&str> = log.lines().next().unwrap().split('\t').collect();
    let of = |line: &str, name: &str| {
        let at = names.iter().position(|known| *known == name).unwrap();
        line.split('\t').nth(at).unwrap().to_owned()
    };
    let number = |line: &str, name: &str| of(line, name).parse::<i64>().unwrap();
    let expected: Vec<&str> = log.lines().filter(|line| line.starts_with("query\t")).collect();
    let seen = queries(&dump);
    assert_eq!((seen.len(), expected.len().to_string().as_str()), (expected.len(), STATEMENTS));
    let mut off = 0;
    for ((status, elapsed, kind, text), line) in seen.iter().zip(&expected) {
        let whole = unescaped(&of(line, "text"));
        assert_eq!(unescaped(text), whole[..whole.len().min(KEPT)], "{line}");
        assert_eq!((*status, kind.as_str()), (number(line, "status"), "direct"), "{line}");
        let expected = number(line, "end") - number(line, "start");
        off += usize::from((elapsed - expected).abs() > (expected / 20).max(5_000_000));
    }
    // A thread may lose the CPU between the probe and its own look at the clock.
    assert!(off * 100 <= expected.len(), "{off} times are off");
    let slow = traced(&machine, &["query-time", "--min", "7ms"], STAND_IN, &[STATEMENTS, "log"]).0;
    assert!(queries(&slow).iter().filter(|(.., text)| text == "SELECT compute()").count() >= 70, "{slow}");
    assert!(queries(&slow).len() < 160, "{slow}");
}

#[test]
fn query_on_cpu_samples_statements() {
    let Some(machine) = Machine::get() else { return };
    let (dump, truth) = traced(&machine, &["query-on-cpu"], STAND_IN, &[STATEMENTS]);
    let rows = rows(&dump, "query_on_cpu");
    for fields in truth.iter().filter(|fields| fields[0] != "SELECT sleep()") {
        let cpu: i64 = fields[2].parse().unwrap();
        near(&fields[0], sum(&rows, &fields[0], ""), (cpu as f64 * 499e-9) as i64, 0.15, 10);
        assert!(sum(&rows, &fields[0], "compute_ms") * 10 >= sum(&rows, &fields[0], "") * 9, "{dump}");
    }
    // Between statements it computes too.
    assert!(!dump.contains("between_statements"), "{dump}");
}

/// This kernel may have no sched:::on-cpu, so that the form cannot run: then it is compiled alone, with -Z, which lets that probe be missing.
#[test]
fn query_off_cpu_compiles() {
    let Some(machine) = Machine::get() else { return };
    let target = Running::start(&mut Command::new(machine.build(STAND_IN)));
    for form in ["query-off-cpu-pid-mysql", "query-on-cpu-pid-mysql", "query-time-pid-mysql"] {
        let script = format!("{ROOT}/d-scripts/{form}.d");
        let output = Command::new("dtrace")
            .args(["-q", "-e", "-Z"])
            .args(syslibdir())
            .args(["-p", &target.pid(), "-s", &script])
            .output()
            .unwrap();
        assert!(output.status.success(), "{form}: {}", crate::machine::stderr(&output));
    }
}

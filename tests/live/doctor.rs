//! doctor on a real machine: as root and as nobody, without a server, beside a stock server and beside one with static probes; what it
//! says is held against what `run` then does.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use crate::machine::{Machine, Running, SEATRACE, finish, stderr, stdout, syslibdir};

fn doctor(machine: &Machine, words: &[&str]) -> Output {
    finish(machine.seatrace(&["doctor"]).args(words).args(syslibdir()))
}

/// Whether `run` of the script begins on the process and ends after two seconds.
fn runs(machine: &Machine, script: &str, pid: &str) -> bool {
    let output = finish(&mut machine.seatrace(&["run", script, "-p", pid, "-d", "2s", "--save", "x.dump"]));
    let began = fs::read_to_string(machine.path("x.dump")).unwrap_or_default().contains("# stop\t");
    assert_eq!(output.status.success(), began, "{script}: {}", stderr(&output));
    began
}

/// A row of the table of scripts.
fn row(report: &str, script: &str) -> String {
    let found = report.lines().find(|line| line.split_whitespace().next() == Some(script));
    found.unwrap_or_else(|| panic!("no row {script}: {report}")).to_owned()
}

/// A stock server on an empty data directory: enough to be looked at.
fn stock(machine: &Machine) -> Option<Running> {
    if !Path::new("/usr/sbin/mariadbd").exists() {
        eprintln!("skipped: no mariadbd on this machine");
        return None;
    }
    let data = machine.path("data");
    fs::create_dir(&data).unwrap();
    for folder in [machine.folder.path(), &data] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).unwrap();
    }
    let mut command = Command::new("/usr/sbin/mariadbd");
    command.args(["--no-defaults", "--user=mysql", "--skip-grant-tables", "--skip-networking"]);
    command.arg(format!("--datadir={}", data.display())).arg(format!("--socket={}", data.join("s").display()));
    let server = Running::start(command.stderr(fs::File::create(machine.path("server.log")).unwrap()));
    let began = Instant::now();
    while !data.join("s").exists() {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "{}",
            fs::read_to_string(machine.path("server.log")).unwrap()
        );
        std::thread::sleep(Duration::from_millis(100));
    }
    Some(server)
}

#[test]
fn a_server_with_static_probes() {
    let Some(machine) = Machine::get() else { return };
    let fixture = machine.build("tests/fixture/fixture.c");
    let fixture = Running::start(Command::new(fixture).args(["-t", "2", "-s", "120", "-q"]));
    let pid = fixture.pid();
    let output = doctor(&machine, &["-p", &pid]);
    let report = stdout(&output);
    assert!(output.status.success(), "{report}");
    assert!(report.contains("ok  static probes    56 of provider mysql"), "{report}");
    assert!(report.contains("is no server"), "its executable is not called mariadbd: {report}");
    assert!(row(&report, "query-time").trim_end().ends_with("works"), "{report}");
    assert!(report.contains(&format!("query-time can run: seatrace run query-time -p {pid}")), "{report}");
    assert!(runs(&machine, "query-time", &pid));
    // Where it says that probes cannot fire DTrace begins all the same, and there is no stack.
    if row(&report, "off-cpu").contains("does not") {
        runs(&machine, "off-cpu", &pid);
        assert!(!fs::read_to_string(machine.path("x.dump")).unwrap().contains('`'));
    }
    // Users whose names would be D: no record, and nothing else.
    let hostile = "x\" || 1/ { system(\"touch pwned\"); } BEGIN /\"\n'; exit(9);";
    let words = ["run", "query-time", "-p", &pid, "-d", "2s", "--save", "y.dump", "--user", hostile];
    let output = finish(&mut machine.seatrace(&words));
    let dump = fs::read_to_string(machine.path("y.dump")).unwrap();
    assert!(dump.contains("# stop\t") && !dump.contains("\nquery\t"), "{}\n{dump}", stderr(&output));
    assert!(!machine.path("pwned").exists());
}

#[test]
fn a_stock_server_and_nobody() {
    let Some(machine) = Machine::get() else { return };
    let Some(server) = stock(&machine) else { return };
    let pid = server.pid();
    let output = doctor(&machine, &["-p", &pid]);
    let report = stdout(&output);
    assert!(output.status.success(), "{report}");
    assert!(report.contains("-MariaDB") && report.contains("none: this build was made without"), "{report}");
    assert!(row(&report, "query-time").contains("works as query-time-pid"), "{report}");
    assert!(runs(&machine, "query-time", &pid));
    let json: serde_json::Value = serde_json::from_str(&stdout(&doctor(&machine, &["-p", &pid, "--json"]))).unwrap();
    assert_eq!((&json["query_time"], &json["targets"][0]["pid"]), (&true.into(), &server.0.id().into()));
    // Found by its name too.
    assert!(stdout(&doctor(&machine, &[])).contains(&format!("pid {pid}: /usr/sbin/mariadbd")));

    let copy = machine.path("seatrace");
    fs::copy(SEATRACE, &copy).unwrap();
    let nobody = |words: &[&str]| {
        let ids = ["--reuid=65534", "--regid=65534", "--clear-groups"];
        finish(
            Command::new("setpriv")
                .args(ids)
                .arg(&copy)
                .args(words)
                .args(syslibdir())
                .current_dir(machine.folder.path()),
        )
    };
    let output = nobody(&["doctor", "-p", &pid]);
    let report = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{report}");
    assert!(report.contains("NO  privileges       not root") && report.contains("run it as root (sudo)"), "{report}");
    assert!(report.contains("another user's") && row(&report, "query-time").contains("cannot be told"), "{report}");
    assert!(report.contains("Nothing can be traced as it is: privileges"), "{report}");
    // The same cause and way out when a trace is tried.
    let tried = nobody(&["run", "query-time", "-p", &pid, "-d", "1s"]);
    assert!(!tried.status.success() && stderr(&tried).contains("run it as root (sudo)"), "{}", stderr(&tried));
    // The executable can be looked into without root.
    let report = stdout(&nobody(&["doctor", "/usr/sbin/mariadbd"]));
    assert!(row(&report, "query-time").contains("works as query-time-pid"), "{report}");
}

/// Case BR-67: every bundled script that is for this system compiles here, and the binding does what dtrace(1) does.
#[test]
fn br_67_the_self_test_passes() {
    let Some(machine) = Machine::get() else { return };
    let log = machine.path("self-test.log");
    let mut command = machine.seatrace(&["doctor", "--self-test"]);
    let mut test = Running::start(command.args(syslibdir()).stdout(fs::File::create(&log).unwrap()));
    let status = test.wait(Duration::from_secs(600));
    let report = fs::read_to_string(log).unwrap();
    let compiled = report.lines().filter(|line| line.starts_with("ok   compile ")).count();
    assert!(status == Some(0) && compiled >= 4, "{report}");
    assert!(!report.contains("FAIL") && report.contains(" passed\n"), "{report}");
}

/// A kernel without KALLSYMS_ALL: without a D library of one's own not even BEGIN compiles, and both commands say what to do.
#[test]
fn a_kernel_without_all_symbols() {
    let Some(machine) = Machine::get() else { return };
    if syslibdir().is_empty() {
        eprintln!("skipped: this kernel keeps all symbols");
        return;
    }
    let report = stdout(&finish(&mut machine.seatrace(&["doctor"])));
    let words = report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("NO D library") && words.contains("-x syslibdir=DIR"), "{report}");
    fs::write(machine.path("begin.d"), "BEGIN { exit(0); }\n").unwrap();
    let output = finish(Command::new(SEATRACE).args(["run", "-s", "begin.d"]).current_dir(machine.folder.path()));
    assert!(!output.status.success() && stderr(&output).contains("`seatrace doctor` tells how"), "{}", stderr(&output));
}

//! What goes wrong in a live trace, and what a person sees then.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{MetadataExt, symlink};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::machine::{Machine, Running, SEATRACE, finish, stderr, stdout, wait_for};

/// Detaching takes 4 s on an idle machine, a minute on a busy one.
const LONG: Duration = Duration::from_secs(200);
/// Counts what a busy process writes; prints when it begins, and its result at the end.
const COUNTER: &str = "BEGIN { printf(\"begun\\n\"); }\nsyscall::write:entry /pid == $target/ { @writes = count(); }\n\
                       END { printa(\"writes %@d\\n\", @writes); }\n";
/// Prints a line for each write.
const PRINTER: &str = "syscall::write:entry /pid == $target/ { printf(\"%d of a line\\n\", timestamp); }\n";

/// A process that writes all the time.
fn busy() -> Running {
    Running::start(Command::new("dd").args(["if=/dev/zero", "of=/dev/null", "bs=512"]).stderr(Stdio::null()))
}

impl Machine {
    fn program(&self, text: &str) -> &'static str {
        fs::write(self.path("p.d"), text).unwrap();
        "p.d"
    }

    /// A trace in the background, with its output in files.
    fn background(&self, args: &[&str]) -> Running {
        let out = fs::File::create(self.path("out")).unwrap();
        let err = fs::File::create(self.path("err")).unwrap();
        Running::start(self.seatrace(args).stdout(out).stderr(err))
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }
}

#[test]
fn signals_end_a_trace_with_its_results() {
    let Some(machine) = Machine::get() else { return };
    let target = busy();
    for signal in ["INT", "TERM", "HUP"] {
        let program = machine.program(COUNTER);
        let mut trace = machine.background(&["run", "-s", program, "-p", &target.pid(), "--save", "saved"]);
        wait_for(&machine.path("out"), "begun", Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(300));
        trace.signal(signal);
        assert_eq!(trace.wait(LONG), Some(0), "{signal}: {}", machine.read("err"));
        let out = machine.read("out");
        assert!(out.contains("writes ") && !out.contains("writes 0\n"), "{signal}: {out}");
        assert_eq!(machine.read("saved"), out, "{signal}");
    }
}

#[test]
fn a_killed_target_ends_a_trace_with_its_results() {
    let Some(machine) = Machine::get() else { return };
    let target = busy();
    let program = machine.program(COUNTER);
    let mut trace = machine.background(&["run", "-s", program, "-p", &target.pid()]);
    wait_for(&machine.path("out"), "begun", Duration::from_secs(20));
    target.signal("KILL");
    assert_eq!(trace.wait(LONG), Some(0), "{}", machine.read("err"));
    assert!(machine.read("out").contains("writes "), "{}", machine.read("out"));
}

#[test]
fn ctrl_c_before_probes_fire_leaves_nothing() {
    let Some(machine) = Machine::get() else { return };
    let target = busy();
    let program = machine.program(COUNTER);
    for wait in [0, 50, 400] {
        let mut trace =
            machine.background(&["run", "-s", program, "-p", &target.pid(), "--save", "saved", "-d", "30s"]);
        std::thread::sleep(Duration::from_millis(wait));
        trace.signal("INT");
        let code = trace.wait(Duration::from_secs(30));
        // The very first instant is before any handler: the signal's own effect.
        assert!(code == Some(130) || code.is_none(), "after {wait} ms: {code:?} {}", machine.read("err"));
        assert!(!machine.path("saved").exists(), "after {wait} ms");
        if code.is_some() {
            assert!(!machine.path("saved.part").exists(), "after {wait} ms");
        }
    }
}

#[test]
fn a_second_ctrl_c_stops_the_output() {
    let Some(machine) = Machine::get() else { return };
    let target = busy();
    let program = machine.program(PRINTER);
    let mut command = machine.seatrace(&["run", "-s", program, "-p", &target.pid()]);
    let mut trace = Running(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let mut lines = BufReader::new(trace.0.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().ends_with("of a line"));
    trace.signal("INT");
    std::thread::sleep(Duration::from_millis(200));
    trace.signal("INT");
    // It may wait for us to read: what is in the pipe is all there is.
    let reader = std::thread::spawn(move || lines.map_while(Result::ok).count());
    assert_eq!(trace.wait(LONG), Some(130));
    reader.join().unwrap();
}

#[test]
fn drops_are_said_and_saved() {
    let Some(machine) = Machine::get() else { return };
    let target = busy();
    let program = machine.program(PRINTER);
    let args = [
        "run",
        "-s",
        program,
        "-p",
        &target.pid(),
        "-x",
        "bufsize=4k",
        "-x",
        "switchrate=1hz",
        "-d",
        "3s",
        "--save",
        "saved",
    ];
    let output = finish(&mut machine.seatrace(&args));
    assert!(output.status.success(), "{}", stderr(&output));
    let said: Vec<String> =
        stdout(&output).lines().filter(|line| line.starts_with("dtrace: ")).map(str::to_owned).collect();
    assert!(said.iter().any(|line| line.contains(" drops on CPU ")), "{said:?}");
    assert_eq!(machine.read("saved"), stdout(&output));
    // No line is broken by them.
    let lines = stdout(&output);
    let broken =
        lines.lines().find(|line| !line.is_empty() && !line.starts_with("dtrace: ") && !line.ends_with("of a line"));
    assert_eq!(broken, None);
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let Some(machine) = Machine::get() else { return };
    let target = busy();
    machine.program(PRINTER);
    let begin = Instant::now();
    let line = format!("{SEATRACE} run -s p.d -p {} $X | head -1; echo ${{PIPESTATUS[0]}}", target.pid());
    let option = crate::machine::syslibdir().join(" ");
    let output = finish(Command::new("bash").args(["-c", &line]).env("X", option).current_dir(machine.folder.path()));
    let text = stdout(&output);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].ends_with("of a line") && lines[1] == "0", "{lines:?} {}", stderr(&output));
    assert_eq!(stderr(&output), "");
    assert!(begin.elapsed() < LONG);
}

#[test]
fn a_reader_that_stops_loses_nothing_and_holds_up_nothing() {
    let Some(machine) = Machine::get() else { return };
    let target = busy();
    let program = machine.program(&format!("{PRINTER}END {{ printf(\"end %d\\n\", walltimestamp); }}\n"));
    let args = ["run", "-s", program, "-p", &target.pid(), "-d", "3s", "-x", "bufsize=32m", "-x", "switchrate=10hz"];
    let mut command = machine.seatrace(&args);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut [0; 10]).unwrap();
    let begin = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    std::thread::sleep(Duration::from_secs(10));
    let mut text = String::new();
    out.read_to_string(&mut text).unwrap();
    let mut child = Running(child);
    assert_eq!(child.wait(LONG), Some(0));
    let end = text.lines().find_map(|line| line.strip_prefix("end ")).unwrap();
    let ended = Duration::from_nanos(end.parse().unwrap());
    assert!(ended.saturating_sub(begin) < Duration::from_secs(8), "END came {:?} late", ended.saturating_sub(begin));
    // Far more than the pipe holds.
    assert!(text.len() > 1 << 20, "{} bytes", text.len());
}

#[test]
fn outputs() {
    let Some(machine) = Machine::get() else { return };
    let target = busy();
    let begin = Instant::now();
    let output =
        finish(&mut machine.seatrace(&["run", "query-time", "-p", &target.pid(), "-o", "nosuch/x.json", "-d", "30s"]));
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(begin.elapsed() < Duration::from_secs(5), "traced before it looked at -o");
    // Into a device, and a dump that does not fit on the disk.
    let program = machine.program(COUNTER);
    let output =
        finish(&mut machine.seatrace(&["run", "-s", program, "-p", &target.pid(), "-d", "1s", "--save", "/dev/full"]));
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("/dev/full") && stderr(&output).contains("No space left"), "{}", stderr(&output));
    assert!(stdout(&output).contains("writes "));
}

#[test]
fn br_66_results_belong_to_the_caller_and_links_are_not_followed() {
    let Some(machine) = Machine::get() else { return };
    let program = machine.program("BEGIN { printf(\"x\\n\"); exit(3); }\n");
    fs::set_permissions(machine.folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let mut command = machine.seatrace(&["run", "-s", program, "--save", "saved"]);
    let output = finish(command.env("SUDO_UID", "65534").env("SUDO_GID", "65533"));
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let data = fs::metadata(machine.path("saved")).unwrap();
    assert_eq!((data.uid(), data.gid(), data.mode() & 0o777), (65534, 65533, 0o644));
    // Planted by somebody else: neither the target nor what grows beside it is written through.
    fs::write(machine.path("victim"), "precious").unwrap();
    symlink("victim", machine.path("planted")).unwrap();
    symlink("victim", machine.path("other.part")).unwrap();
    let output = finish(&mut machine.seatrace(&["run", "-s", program, "--save", "planted"]));
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("symbolic link"), "{}", stderr(&output));
    let output = finish(&mut machine.seatrace(&["run", "-s", program, "--save", "other"]));
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert_eq!(machine.read("victim"), "precious");
    assert_eq!(machine.read("other").lines().next(), Some("x"));
}

#[test]
fn a_library_from_somebody_else_is_refused_as_root() {
    let Some(machine) = Machine::get() else { return };
    let program = machine.program("BEGIN { exit(0); }\n");
    fs::write(machine.path("evil.so"), "").unwrap();
    std::os::unix::fs::chown(machine.path("evil.so"), Some(65534), None).unwrap();
    let mut command = machine.seatrace(&["run", "-s", program]);
    let output = finish(command.env("SEATRACE_LIBDTRACE", machine.path("evil.so")));
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("does not belong to root"), "{}", stderr(&output));
}

#[test]
fn messages_name_cause_and_way_out() {
    let Some(machine) = Machine::get() else { return };
    let failing = |text: &str, args: &[&str], words: &[&str], code: i32| {
        let program = machine.program(text);
        let output = finish(&mut machine.seatrace(&[&["run", "-s", program], args].concat()));
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert!(words.iter().all(|word| said.contains(word)), "{args:?}: {said}");
        assert!(said.starts_with("seatrace: "), "{said}");
    };
    failing("BEGIN { exit(0); }", &["-x", "nosuch=1"], &["nosuch=1", "no such option"], 2);
    failing("BEGIN\n{\n\ttrace(1;\n}\n", &[], &["p.d: ", "line 3", "    3 |  trace(1;"], 1);
    failing("nosuch*:::x { }", &[], &["does not match any probes", "doctor"], 1);
    failing("BEGIN { exit(0); }", &["-p", "99999999"], &["99999999", "No such process"], 1);
    failing("BEGIN { exit(0); }", &["--name", "nosuch"], &["no process is called nosuch", "-p PID"], 1);
    failing("BEGIN { exit($1); }", &[], &["$1 is not defined", "--arg"], 1);
    let target = busy();
    let program = machine.program("BEGIN { printf(\"begun\\n\"); }");
    let _first = machine.background(&["run", "-s", program, "-p", &target.pid(), "-d", "20s"]);
    wait_for(&machine.path("out"), "begun", Duration::from_secs(20));
    failing("BEGIN { exit(0); }", &["-p", &target.pid()], &["already holds it"], 1);
}

#[test]
fn an_ordinary_user_is_told_to_use_sudo() {
    let Some(machine) = Machine::get() else { return };
    fs::set_permissions(machine.folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let program = machine.path(machine.program("BEGIN { exit(0); }\n"));
    // The program may lie where only root can go: a copy that anybody can run.
    let copy = std::env::temp_dir().join(format!("seatrace-{}", std::process::id()));
    fs::copy(SEATRACE, &copy).unwrap();
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
        .arg(&copy)
        .args(["run", "-s"])
        .arg(program);
    let output = finish(command.args(crate::machine::syslibdir()));
    fs::remove_file(&copy).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("needs more privileges") && stderr(&output).contains("sudo"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn br_65_arguments_of_a_command_and_of_a_program_stay_whole() {
    let Some(machine) = Machine::get() else { return };
    let program = machine.program("BEGIN { printf(\"%s|%d\\n\", $$1, $2); }\n");
    let hostile = "x\"; } BEGIN { system(\"touch pwned\"); }\n";
    let mut command = Command::new(SEATRACE);
    command.current_dir(machine.folder.path()).args(["run", "-s", program, "--arg", hostile, "--arg", "7"]);
    command.args(crate::machine::syslibdir()).args([
        "--",
        "sh",
        "-c",
        "echo \"[$0] [$1]\" >&2; sleep 0.2",
        "my db",
        "a  b",
    ]);
    let output = finish(&mut command);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).starts_with(&format!("{hostile}|7\n")), "{}", stdout(&output));
    assert!(stderr(&output).contains("[my db] [a  b]"), "{}", stderr(&output));
    assert!(!machine.path("pwned").exists());
}

#[test]
fn a_child_dies_of_sigpipe_as_usual() {
    let Some(machine) = Machine::get() else { return };
    let program = machine.program("BEGIN { printf(\"begun\\n\"); }\n");
    let mut command = Command::new(SEATRACE);
    command.current_dir(machine.folder.path()).args(["run", "-s", program]).args(crate::machine::syslibdir());
    let output = finish(command.args(["--", "grep", "SigIgn", "/proc/self/status"]));
    let text = stdout(&output);
    // libdtrace itself starts commands with most signals masked, as dtrace -c shows too: nothing that we can change.
    let ignored = text.lines().find_map(|line| line.strip_prefix("SigIgn:\t")).unwrap();
    assert_eq!(u64::from_str_radix(ignored, 16).unwrap() & (1 << 12), 0, "SIGPIPE is ignored: {ignored}");
}

#[test]
fn both_sources_say_the_same_and_end_the_same() {
    let Some(machine) = Machine::get() else { return };
    let text = "BEGIN { printf(\"one\\n\"); }\nBEGIN { @a[\"x\", 5] = count(); @a[\"y\", -3] = count(); x = *(int *)0; }\n\
                BEGIN { exit(4); }\n";
    let program = machine.program(text);
    let outputs = ["library", "dtrace"].map(|via| finish(&mut machine.seatrace(&["run", "-s", program, "--via", via])));
    // What dtrace(1) says on standard error may come a little later, and the position of a BPF instruction differs between two
    // compilations; nothing else does.
    let lines = |output: &std::process::Output| -> Vec<String> {
        let text = stdout(output);
        let lines = text.lines().filter(|line| !line.is_empty());
        let mut lines: Vec<String> = lines.map(|line| line.split(" at BPF").next().unwrap_or("").to_owned()).collect();
        lines.sort();
        lines
    };
    assert_eq!(lines(&outputs[0]), lines(&outputs[1]));
    assert_eq!(lines(&outputs[0]).len(), 4, "{}", stdout(&outputs[0]));
    assert_eq!(outputs.map(|output| output.status.code()), [Some(4), Some(4)]);
}

//! `doctor` on made-up systems and made executables of all four, and on this machine.

mod eyes;
mod made;
mod systems;

use std::path::Path;
use std::process::{Command, Output};

use eyes::Machine;
use made::Made;
use object::{Architecture, BinaryFormat, elf};
use seatrace::doctor::{Ask, Report, State, Works, examine, json, text};
use seatrace::live::Flavor;
use seatrace::scripts;

/// The report on one executable.
fn judge(flavor: Flavor, machine: &Machine, file: &Path) -> Report {
    let ask = Ask { file: Some(file.to_owned()), ..Ask::default() };
    examine(&ask, Some(flavor), machine)
}

/// State, words and remedy of what was found about something in the executable.
fn finding(report: &Report, about: &str) -> (State, String) {
    let target = report.examined[0].target.as_ref().unwrap();
    let found = target
        .findings
        .iter()
        .find(|finding| finding.about == about)
        .unwrap_or_else(|| panic!("nothing about {about}"));
    (found.state, format!("{} > {}", found.says, found.remedy))
}

fn works(report: &Report, script: &str) -> (Works, Option<&'static str>) {
    let verdict = report.examined[0].verdicts.iter().find(|verdict| verdict.script == script).unwrap();
    (verdict.works, verdict.form)
}

/// All functions that the pid forms for MariaDB ask for, as names that fit their globs.
fn functions_of_pid_forms() -> Vec<String> {
    let forms =
        scripts::all().iter().flat_map(|script| &script.forms).filter(|form| form.kind == scripts::FormKind::Pid);
    let globs = forms.flat_map(|form| form.header.functions.iter());
    let mut names: Vec<String> = globs.map(|glob| glob.replace('*', "X")).collect();
    names.extend((0..8).map(|number| format!("_Z7other{number}v")));
    names.sort();
    names.dedup();
    names
}

/// All static probes that scripts ask for, as sys/sdt.h spells them.
fn all_probes() -> Vec<&'static str> {
    let forms = scripts::all().iter().flat_map(|script| &script.forms);
    let mut names: Vec<&str> = forms
        .flat_map(|form| &form.header.probes)
        .map(|probe| &*Box::leak(probe.replace('-', "__").into_boxed_str()))
        .collect();
    names.sort();
    names.dedup();
    names
}

fn dashed(names: &[&'static str]) -> Vec<&'static str> {
    names.iter().map(|name| &*Box::leak(name.replace("__", "-").into_boxed_str())).collect()
}

#[test]
fn static_probes_are_found_on_all_four() {
    let folder = tempfile::tempdir().unwrap();
    let dof = dashed(&all_probes());
    let linux = Made { notes: all_probes(), ..Made::default() };
    let freebsd = Made {
        os_abi: elf::ELFOSABI_FREEBSD,
        interpreter: "/libexec/ld-elf.so.1",
        dof: dof.clone(),
        ..Made::default()
    };
    let illumos = Made { interpreter: "/usr/lib/amd64/ld.so.1", dof: dof.clone(), ..Made::default() };
    let macos = Made { format: BinaryFormat::MachO, architecture: Architecture::Aarch64, dof, ..Made::default() };
    for (flavor, made) in
        [(Flavor::Linux, linux), (Flavor::FreeBsd, freebsd), (Flavor::Illumos, illumos), (Flavor::MacOs, macos)]
    {
        let file = made.write(folder.path(), flavor.word());
        let report = judge(flavor, &Machine::good(flavor), &file);
        assert_eq!(report.examined[0].flavor, flavor, "{flavor}");
        assert_eq!(finding(&report, "static probes").0, State::Good, "{flavor}");
        assert_eq!(works(&report, "query-time"), (Works::Yes, Some("query-time")), "{flavor}");
        assert!(report.query_time_runs(), "{flavor}");
        // The same file on another system is judged for its own, whatever is missing here.
        let elsewhere = if flavor == Flavor::Linux { Flavor::MacOs } else { Flavor::Linux };
        let report = judge(elsewhere, &Machine::default(), &file);
        assert_eq!(report.examined[0].flavor, flavor);
        assert!(
            report.query_time_runs() && text(&report).contains(&format!("query-time can run on {flavor}")),
            "{}",
            text(&report)
        );
    }
}

#[test]
fn br_04_without_static_probes_the_pid_form_is_told_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let file = Made { functions: functions_of_pid_forms(), ..Made::default() }.write(folder.path(), "mariadbd");
    let report = judge(Flavor::Linux, &Machine::good(Flavor::Linux), &file);
    let (state, says) = finding(&report, "static probes");
    assert!(
        state == State::Doubt && says.contains("this build was made without") && says.contains("pid forms work"),
        "{says}"
    );
    assert_eq!(works(&report, "query-time"), (Works::Form, Some("query-time-pid")));
    let (state, says) = finding(&report, "functions");
    assert!(state == State::Good && says.starts_with("all "), "{says}");
}

#[test]
fn mysql_8_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let functions = vec!["_Z16dispatch_commandP3THDPK8COM_DATA19enum_server_command".to_owned()];
    let file = Made { functions, ..Made::default() }.write(folder.path(), "mysqld");
    let report = judge(Flavor::Linux, &Machine::good(Flavor::Linux), &file);
    assert!(finding(&report, "static probes").1.contains("MySQL took them out in 8.0"));
}

#[test]
fn stripped_32_bit_and_no_executable() {
    let folder = tempfile::tempdir().unwrap();
    let good = Machine::good(Flavor::Linux);
    let stripped = Made { functions: Vec::new(), ..Made::default() }.write(folder.path(), "stripped");
    let report = judge(Flavor::Linux, &good, &stripped);
    let (state, says) = finding(&report, "functions");
    assert!(state == State::Bad && says.contains("stripped"), "{says}");
    assert_eq!(works(&report, "query-time").0, Works::No);
    let on_cpu = report.examined[0].verdicts.iter().find(|verdict| verdict.script == "on-cpu").unwrap();
    assert!(on_cpu.works == Works::Yes && on_cpu.because.contains("stacks will have no names"), "{}", on_cpu.because);
    assert!(!report.query_time_runs() && text(&report).contains("query-time cannot run"));

    let narrow = Made {
        architecture: Architecture::I386,
        interpreter: "/lib/ld-linux.so.2",
        notes: all_probes(),
        ..Made::default()
    };
    let report = judge(Flavor::Linux, &good, &narrow.write(folder.path(), "narrow"));
    let (state, says) = finding(&report, "binary");
    assert!(state == State::Bad && says.contains("ELF 32 bit, i386, for Linux"), "{says}");
    assert!(report.examined[0].verdicts.iter().all(|verdict| verdict.works == Works::No) && !report.query_time_runs());
    assert_eq!(finding(&report, "static probes").0, State::Good, "notes of 32 bit programs have shorter addresses");
    // A static one names no system.
    let fixed = Made { interpreter: "", ..narrow }.write(folder.path(), "fixed");
    let (state, says) = finding(&judge(Flavor::Linux, &good, &fixed), "binary");
    assert!(state == State::Bad && says.contains("system unknown: DTrace takes hold of no 32 bit process"), "{says}");

    let script = folder.path().join("mysqld_safe");
    std::fs::write(&script, "#!/bin/sh\nexec mariadbd\n").unwrap();
    for file in [script, folder.path().join("nosuch"), folder.path().to_owned()] {
        let report = judge(Flavor::Linux, &good, &file);
        let (state, says) = finding(&report, "binary");
        assert!(state == State::Bad && says.contains("cannot be looked into"), "{says}");
        assert!(report.examined[0].verdicts.iter().all(|verdict| verdict.works == Works::No));
        assert!(!report.query_time_runs());
    }
}

#[test]
fn frame_pointers_are_recognized() {
    let folder = tempfile::tempdir().unwrap();
    let functions: Vec<String> = (0..20).map(|number| format!("f{number}")).collect();
    for architecture in [Architecture::X86_64, Architecture::Aarch64] {
        for (frame_pointers, state) in [(true, State::Good), (false, State::Doubt)] {
            let made = Made { architecture, frame_pointers, functions: functions.clone(), ..Made::default() };
            let report = judge(Flavor::Linux, &Machine::good(Flavor::Linux), &made.write(folder.path(), "f"));
            assert_eq!(finding(&report, "frame pointers").0, state, "{architecture:?} {frame_pointers}");
            assert_eq!(report.examined[0].target.as_ref().unwrap().frame_pointers, Some(frame_pointers));
        }
    }
}

#[test]
fn json_is_one_object_and_text_is_narrow() {
    let folder = tempfile::tempdir().unwrap();
    let file = Made { notes: all_probes(), ..Made::default() }.write(folder.path(), "mariadbd");
    let report = judge(Flavor::Linux, &Machine::good(Flavor::Linux), &file);
    let line = json(&report).unwrap();
    let value: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(line.matches('\n').count(), 1);
    assert_eq!(value["system"], "linux");
    assert_eq!(value["query_time"], true);
    let scripts = value["targets"][0]["scripts"].as_array().unwrap();
    assert_eq!(scripts.len(), scripts::all().len());
    assert!(scripts.iter().any(|script| script["script"] == "query-time" && script["works"] == "yes"), "{scripts:?}");
    assert!(value["targets"][0]["probes"].as_array().unwrap().iter().any(|probe| probe == "mysql:::query-start"));
    // Paths and globs may be longer than a line; sentences are not.
    let machine = Machine { has_library: false, ..Machine::good(Flavor::Linux) }.user();
    let wide: Vec<String> = text(&judge(Flavor::Linux, &machine, Path::new("nosuch")))
        .lines()
        .filter(|line| line.chars().count() > 80)
        .map(str::to_owned)
        .collect();
    assert!(wide.is_empty(), "{wide:?}");
}

fn seatrace(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_seatrace")).args(words).output().unwrap()
}

/// On this machine, whatever it is: one report, no panic, and a status that agrees with it.
#[test]
fn the_command_and_its_status() {
    for words in [&["doctor"][..], &["doctor", "--json"], &["doctor", "-p", "1"], &["doctor", "Cargo.toml"]] {
        let output = seatrace(words);
        let report = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.code().is_some_and(|code| code < 2),
            "{words:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let runs = report.contains("query-time can run") || report.contains("\"query_time\":true");
        assert_eq!(output.status.success(), runs, "{words:?}: {report}");
    }
    let report = String::from_utf8(seatrace(&["doctor", "-p", "2147483646"]).stdout).unwrap();
    assert!(report.contains("no process has the id 2147483646") && report.contains("query-time"), "{report}");
    assert_eq!(seatrace(&["doctor", "-p", "0"]).status.code(), Some(2));
    assert_eq!(seatrace(&["doctor", "--self-test", "--json"]).status.code(), Some(2));
}

/// Executables of all systems by their path, as a person gives them: they are judged for their own system, on this one.
#[test]
fn br_31_files_of_other_systems_by_path() {
    let folder = tempfile::tempdir().unwrap();
    let elf = |interpreter, os_abi| Made { interpreter, os_abi, dof: dashed(&all_probes()), ..Made::default() };
    let macos = Made {
        format: BinaryFormat::MachO,
        architecture: Architecture::Aarch64,
        dof: dashed(&all_probes()),
        ..Made::default()
    };
    let stripped = Made { functions: Vec::new(), ..Made::default() };
    let cases = [
        (
            "freebsd",
            elf("/libexec/ld-elf.so.1", elf::ELFOSABI_FREEBSD),
            "for FreeBSD",
            Some("query-time can run on FreeBSD"),
        ),
        (
            "illumos",
            elf("/usr/lib/amd64/ld.so.1", elf::ELFOSABI_SYSV),
            "for illumos",
            Some("query-time can run on illumos"),
        ),
        ("macos", macos, "Mach-O", Some("query-time can run on macOS")),
        ("stripped", stripped, "the binary is stripped of its symbols", None),
    ];
    for (name, made, kind, runs) in cases {
        let native = Flavor::native().map_or("", Flavor::word);
        let file = made.write(folder.path(), name);
        let output = seatrace(&["doctor", file.to_str().unwrap()]);
        let report = String::from_utf8(output.stdout).unwrap();
        assert!(report.contains(kind), "{name}: {report}");
        match runs {
            Some(runs) if name != native => {
                assert!(report.contains(runs) && output.status.success(), "{name}: {report}");
            }
            Some(_) => {}
            None => assert_eq!(output.status.code(), Some(1), "{name}: {report}"),
        }
    }
}

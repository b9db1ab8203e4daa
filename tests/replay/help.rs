//! The examples of `--help` and of the README run, and do what they say.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn seatrace(folder: &Path, words: &[String]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_seatrace"));
    command.args(words).current_dir(folder).output().unwrap()
}

/// A folder in which the examples find what they name.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    std::os::unix::fs::symlink(root.join("d-scripts"), folder.path().join("d-scripts")).unwrap();
    let copies = [
        ("off.dump", "off-cpu"),
        ("before.dump", "on-cpu"),
        ("after.dump", "on-cpu"),
        ("trace.dump", "off-cpu"),
        ("before.folded", "on-cpu"),
        ("after.folded", "on-cpu"),
    ];
    for (name, script) in copies {
        fs::copy(root.join(format!("d-scripts/{script}.out")), folder.path().join(name)).unwrap();
    }
    fs::copy(root.join("tests/data/slowlog/mariadb-11.8.log"), folder.path().join("slow.log")).unwrap();
    fs::write(folder.path().join("mine.d"), "BEGIN { exit(0); }\n").unwrap();
    folder
}

/// The command lines of a text that begin with `seatrace VERB`, as words; comments and pipes are no part of them.
fn commands(text: &str, verbs: &[&str]) -> Vec<Vec<String>> {
    let lines = text.lines().map(str::trim_start).map(|line| line.strip_prefix("sudo ").unwrap_or(line));
    lines
        .filter_map(|line| line.strip_prefix("seatrace "))
        .filter(|line| !line.contains(['|', '>']) && !line.contains("$(") && !line.contains('`'))
        .map(|line| {
            line.split(" #").next().unwrap_or("").split_whitespace().map(|word| word.replace('"', "")).collect()
        })
        .filter(|words: &Vec<String>| words.first().is_some_and(|verb| verbs.contains(&verb.as_str())))
        .collect()
}

fn help(verb: &str) -> String {
    let words: Vec<String> = [verb, "--help"].into_iter().filter(|word| !word.is_empty()).map(str::to_owned).collect();
    String::from_utf8(seatrace(Path::new("."), &words).stdout).unwrap()
}

#[test]
fn examples_that_read_files_run() {
    let folder = folder();
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let text = help("replay") + &help("diff") + &help("scripts") + &help("sql") + &readme;
    let found = commands(&text, &["replay", "diff", "scripts", "sql"]);
    assert!(found.len() >= 8, "{found:?}");
    for words in found {
        let output = seatrace(folder.path(), &words);
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn examples_of_live_traces_print_their_program() {
    let folder = folder();
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let found = commands(&(help("run") + &readme), &["run"]);
    assert!(found.len() >= 6, "{found:?}");
    for mut words in found {
        let at = words.iter().position(|word| word == "--").unwrap_or(words.len());
        if !words.contains(&"--print".to_owned()) {
            words.insert(at, "--print".to_owned());
        }
        let output = seatrace(folder.path(), &words);
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(!output.stdout.is_empty(), "{words:?}");
    }
}

#[test]
fn help_is_short_and_long() {
    for verb in ["", "replay", "run", "diff", "scripts", "doctor", "sql"] {
        let long = help(verb);
        assert!(long.lines().all(|line| line.chars().count() <= 110), "{verb}");
        assert!(verb.is_empty() || long.contains("Examples:"), "{verb}");
    }
}

#[test]
fn what_packages_install_can_be_printed() {
    for words in [&["man"][..], &["man", "run"], &["completions", "bash"], &["completions", "zsh"]] {
        let output = seatrace(Path::new("."), &words.iter().map(|word| word.to_string()).collect::<Vec<_>>());
        assert!(output.status.success() && output.stdout.len() > 500, "{words:?}");
    }
}

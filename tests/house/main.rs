//! The walls of the house: who may import whom, how large a file may grow, what may stand in the tree.
//!
//! docs/architecture.md draws the picture; this test keeps it true.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Files that git tracks or would track, below the root.
fn tracked() -> Vec<PathBuf> {
    let out = Command::new("git").args(["ls-files", "-co", "--exclude-standard"]).current_dir(root()).output();
    let listed =
        out.ok().filter(|out| out.status.success()).map(|out| String::from_utf8_lossy(&out.stdout).into_owned());
    listed.unwrap_or_default().lines().map(|line| root().join(line)).filter(|path| path.is_file()).collect()
}

fn rust_files(below: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(below)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(root()).unwrap().display().to_string();
                found.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// The top-level modules of this crate that a file's code names, as `crate::NAME` or inside `crate::{…}`.
fn imports(text: &str) -> Vec<String> {
    let code: String = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .take_while(|line| !line.contains("#[cfg(test)]"))
        .collect::<Vec<_>>()
        .join("\n");
    let mut found = Vec::new();
    for after in code.split("crate::").skip(1) {
        let parts = match after.strip_prefix('{') {
            Some(group) => group.split('}').next().unwrap_or("").split(',').map(str::trim).collect(),
            None => vec![after],
        };
        for part in parts {
            found.push(part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect());
        }
    }
    found.sort();
    found.dedup();
    found
}

fn assert_imports_only(below: &str, allowed: &[&str]) {
    for (name, text) in rust_files(below) {
        for import in imports(&text) {
            assert!(
                allowed.contains(&import.as_str()),
                "{name} imports crate::{import}; {below} may only use {allowed:?}"
            );
        }
    }
}

#[test]
fn format_and_view_do_not_know_each_other() {
    assert_imports_only("src/format", &["error", "input", "model", "sql", "symbol", "units", "format"]);
    assert_imports_only("src/view", &["error", "model", "sql", "symbol", "units", "view"]);
}

#[test]
fn the_model_is_plain_data() {
    assert_imports_only("src/model", &["error", "model", "sql", "symbol", "units"]);
    for (name, text) in rust_files("src/model") {
        assert!(!text.contains("std::fs") && !text.contains("std::net"), "{name} does I/O");
    }
}

#[test]
fn unsafe_is_in_live_and_explained() {
    for (name, text) in rust_files("src") {
        if name.contains("/abi/") {
            continue; // generated
        }
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let code = line.split("//").next().unwrap_or("");
            if !(code.contains("unsafe {") || code.contains("unsafe impl")) {
                continue;
            }
            assert!(name.starts_with("src/live"), "{name}:{}: unsafe outside src/live", at + 1);
            let above = lines[at.saturating_sub(8)..at].iter().any(|line| line.contains("SAFETY:"));
            assert!(above, "{name}:{}: unsafe without a SAFETY comment", at + 1);
        }
    }
}

#[test]
fn inferno_and_clap_stay_where_they_belong() {
    for (name, text) in rust_files("src") {
        let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        if code.iter().any(|line| line.contains("inferno::")) {
            assert!(name == "src/view/draw.rs", "{name} knows inferno");
        }
        if code.iter().any(|line| line.contains("clap::")) {
            let may = ["src/cli", "src/view"].iter().any(|folder| name.starts_with(folder));
            assert!(may, "{name} knows clap");
        }
    }
}

#[test]
fn files_stay_readable() {
    for path in tracked() {
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        let limit = match path.extension().and_then(|extension| extension.to_str()) {
            Some("rs") if name.contains("/abi") || name.contains("bindings") => continue,
            Some("rs") => 600,
            Some("d") => 430,
            _ => continue,
        };
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines <= limit, "{name} has {lines} lines; {limit} at the most");
    }
}

#[test]
fn every_rust_file_says_what_it_is() {
    for (name, text) in rust_files("src").into_iter().chain(rust_files("tests")) {
        if name.contains("/abi/") {
            continue;
        }
        assert!(text.starts_with("//!"), "{name} has no module header");
    }
}

#[test]
fn the_tree_names_no_machine() {
    // Put together here, so that this file does not hold what it looks for.
    let words = [
        ["/wo", "rk/"].concat(),
        ["/ro", "ot/."].concat(),
        ["crates", ".io-index"].concat(),
        ["registry.", "npm"].concat(),
    ];
    for path in tracked() {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        if name.ends_with("Cargo.lock") || name.starts_with("tests/data/") {
            continue;
        }
        for word in &words {
            assert!(!text.contains(word.as_str()), "{name} names {word}");
        }
    }
}

/// What is built is used: each dependency is named in the code that it is for, the tests' in the tests.
#[test]
fn no_dependency_is_unused() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let code = |below: &str| rust_files(below).into_iter().map(|(_, text)| text).collect::<String>();
    let build = fs::read_to_string(root().join("build.rs")).unwrap();
    let places = [("dependencies", code("src")), ("build-dependencies", build), ("dev-dependencies", code("tests"))];
    for (table, code) in places {
        let entries = manifest.split(&format!("\n[{table}]\n")).nth(1).unwrap_or_else(|| panic!("no [{table}]"));
        let names = entries.lines().take_while(|line| !line.starts_with('[')).filter_map(|line| line.split_once(" = "));
        let mut count = 0;
        for (name, _) in names {
            // The library of this one has another name.
            let library = if name == "md-5" { "md5".to_owned() } else { name.replace('-', "_") };
            let is_named = |mark: &str| code.contains(&format!("{library}{mark}"));
            assert!(is_named("::") || is_named(";"), "{name} of [{table}] is used nowhere");
            count += 1;
        }
        assert!(count > 0, "[{table}] is read");
    }
}

//! The bundled scripts: held to what all four systems accept, to the dump format, and to their own headers, pages and recordings.
//!
//! No DTrace is needed: the rules read the D text. What the systems accept is one table, in `dialect.rs`.

mod dialect;
mod faults;
mod header;
mod injection;
mod pages;
mod program;
mod rules;
mod shapes;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use program::Program;
use rules::Script;
use seatrace::scripts::{self, FormKind, Header};

/// The folder of the scripts.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("d-scripts")
}

/// Where a form runs: what its name and its header say, by initials.
pub fn systems(kind: FormKind, header: Option<&Header>) -> String {
    let initial = |word: &str| match word {
        "macos" => "M",
        "illumos" => "I",
        "freebsd" => "F",
        "linux" => "L",
        _ => "",
    };
    match kind {
        FormKind::System(word) => initial(word).to_owned(),
        _ => match header.map(|header| &header.systems).filter(|systems| !systems.is_empty()) {
            Some(systems) => systems.iter().map(|word| initial(word)).collect(),
            None => "MIFL".into(),
        },
    }
}

/// All forms of all scripts.
pub fn bundled() -> Vec<Script<'static>> {
    let forms = scripts::all().iter().flat_map(|script| script.forms.iter().map(move |form| (script.name, form)));
    forms
        .map(|(name, form)| Script {
            form: form.name,
            name,
            source: form.text,
            program: Program::parse(form.text).unwrap_or_else(|wrong| panic!("{}.d: {wrong}", form.name)),
            systems: systems(form.kind, Some(&form.header)),
        })
        .collect()
}

fn assert_none(complaints: &[String]) {
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn scripts_keep_the_rules() {
    let complaints: Vec<String> = bundled().iter().flat_map(rules::judge).collect();
    assert_none(&complaints);
}

#[test]
fn every_file_is_offered() {
    let offered: BTreeSet<String> = bundled().iter().map(|script| format!("{}.d", script.form)).collect();
    let there = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let there: BTreeSet<String> = there.filter(|name| name.ends_with(".d")).collect();
    assert_eq!(offered, there);
}

/// `report` runs several scripts in one handle: their names must not meet.
#[test]
fn prefixes_differ_between_scripts() {
    let mut owners: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for script in bundled() {
        if let Ok(Some(prefix)) = rules::prefix_of(&script) {
            owners.entry(prefix).or_default().insert(script.name);
        }
    }
    let shared: Vec<String> = owners
        .iter()
        .filter(|(_, names)| names.len() > 1)
        .map(|(prefix, names)| format!("{prefix}_: {names:?}"))
        .collect();
    assert_none(&shared);
}

/// The scripts that run with another one exist.
#[test]
fn scripts_that_run_together_exist() {
    let named = bundled().into_iter().filter_map(|script| Header::parse(script.source).ok()).flat_map(|it| it.scripts);
    let unknown: Vec<String> = named
        .flat_map(|words| words.split('|').map(str::to_owned).collect::<Vec<_>>())
        .filter(|name| scripts::by_name(name).is_err())
        .collect();
    assert_none(&unknown);
}

/// One aggregation name has one function in a handle (`aggregation redefined`).
#[test]
fn aggregations_differ_between_scripts() {
    let mut owners: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for script in bundled() {
        for (name, ..) in script.program.clauses.iter().flat_map(rules::assignments) {
            owners.entry(name).or_default().insert(script.name);
        }
    }
    let shared: Vec<String> =
        owners.iter().filter(|(_, names)| names.len() > 1).map(|(name, names)| format!("@{name}: {names:?}")).collect();
    assert_none(&shared);
}

//! Pages and recordings: they exist, and say what the script says.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use seatrace::scripts::Header;
use seatrace::{format, input::Input, model, scripts, symbol};

use crate::rules::Script;
use crate::{assert_none, bundled, folder, shapes};

/// `frames/64` is `frames/%d` in a format whose depth is a constant.
fn shape(heading: &str) -> String {
    let fields = heading.split('\t').map(|field| match field.split_once('/') {
        Some((kind, depth)) if depth == "%d" || depth.bytes().all(|byte| byte.is_ascii_digit()) => kind.to_owned(),
        _ => field.to_owned(),
    });
    fields.collect::<Vec<_>>().join("\t")
}

#[test]
fn every_script_has_its_page_and_recording() {
    let mut missing = Vec::new();
    for script in scripts::all() {
        if !script.page.starts_with(&format!("# {}", script.name)) {
            missing.push(format!("{}.md: no page that starts with `# {}`", script.name, script.name));
        }
        if !script.forms.iter().any(|form| folder().join(format!("{}.out", form.name)).exists()) {
            missing.push(format!("{}: no recorded run of any form", script.name));
        }
    }
    assert_none(&missing);
}

/// The script, and all forms of those that run with it.
fn together<'a>(script: &Script<'a>) -> Vec<Script<'a>> {
    let with = Header::parse(script.source).map(|header| header.scripts).unwrap_or_default();
    let others = with.iter().flat_map(|words| words.split('|'));
    let names: BTreeSet<&str> = others.chain([script.name]).collect();
    bundled()
        .into_iter()
        .filter(|one| names.contains(one.name) && (one.name != script.name || one.form == script.form))
        .collect()
}

/// Every heading of a recording stands in its script, in that form, and the other way round: a script that changes needs a new recording.
#[test]
fn recordings_have_the_shapes_of_their_scripts() {
    let mut wrong = Vec::new();
    for script in bundled() {
        let Ok(text) = fs::read(folder().join(format!("{}.out", script.form))) else { continue };
        let text = String::from_utf8_lossy(&text);
        if !text.lines().next().is_some_and(|line| line.starts_with("## recorded: ")) {
            wrong.push(format!("{}.out: the first line is not `## recorded: …`", script.form));
        }
        let declared: BTreeSet<String> = together(&script)
            .iter()
            .flat_map(shapes::headings)
            .map(|heading| shape(&heading.replace("\\t", "\t")))
            .collect();
        for line in text.lines().filter(|line| line.starts_with("# record\t") || line.starts_with("# aggregation\t")) {
            if !declared.contains(&shape(line)) && !declared.iter().any(|known| known.contains('%')) {
                wrong.push(format!("{}.out: {line}: not in the script", script.form));
            }
        }
        // A trace of several scripts may lack those that this system has not.
        let own: BTreeSet<String> =
            shapes::headings(&script).iter().map(|it| shape(&it.replace("\\t", "\t"))).collect();
        let printed: BTreeSet<String> = text.lines().map(shape).collect();
        for heading in own.iter().filter(|heading| !heading.contains('%') && !printed.contains(*heading)) {
            wrong.push(format!("{}.out: no {heading}, which the script prints", script.form));
        }
        if !text.lines().any(|line| line.starts_with("# stop\t")) {
            wrong.push(format!("{}.out: no # stop: the run was cut short", script.form));
        }
    }
    assert_none(&wrong);
}

/// Our own reader takes each recording whole.
#[test]
fn recordings_are_read_without_loss() {
    let mut wrong = Vec::new();
    for script in bundled() {
        let path = folder().join(format!("{}.out", script.form));
        if !path.exists() {
            continue;
        }
        let mut trace = model::Trace::new(symbol::Cleaner::default(), model::Filter::default(), model::Passes::Auto);
        let mut input = Input::open(path.to_str().unwrap()).unwrap();
        if let Err(error) = format::read(&mut input, None, &format::Options::default(), &mut trace) {
            wrong.push(format!("{}.out: {error}", script.form));
            continue;
        }
        trace.finish();
        if trace.is_empty() {
            wrong.push(format!("{}.out: holds nothing", script.form));
        }
        // A recording may tell of drops; a line that the reader could not take is a fault.
        let skipped = trace
            .notes
            .iter()
            .filter(|note| note.to_string().contains("skipped") || note.to_string().contains("passed over"));
        wrong.extend(skipped.map(|note| format!("{}.out: {note}", script.form)));
    }
    assert_none(&wrong);
}

/// The commands in a page's code blocks: those that show recordings are run, those that trace are only prepared (`--print`).
#[test]
fn examples_of_the_pages_run() {
    let mut wrong = Vec::new();
    for script in scripts::all() {
        if commands(script.page).is_empty() {
            wrong.push(format!("{}.md: no example that calls seatrace", script.name));
        }
        for command in commands(script.page) {
            wrong.extend(try_command(&command).err().map(|why| format!("{}.md: {command}: {why}", script.name)));
        }
    }
    assert_none(&wrong);
}

/// Lines in code blocks, fenced or indented, that call seatrace, without prompt and sudo.
fn commands(page: &str) -> Vec<String> {
    let fenced = page.split("```").skip(1).step_by(2).flat_map(str::lines);
    let indented = page.split("```").step_by(2).flat_map(str::lines).filter(|line| line.starts_with("    "));
    let lines = fenced.chain(indented).map(|line| line.trim().trim_start_matches("$ ").trim_start_matches("# "));
    let own = lines.map(|line| line.strip_prefix("sudo ").or(line.strip_prefix("pfexec ")).unwrap_or(line));
    own.filter(|line| line.starts_with("seatrace ")).map(str::to_owned).collect()
}

/// A command line as words; what stands in quotes is one.
fn words(line: &str) -> Vec<String> {
    let word = regex::Regex::new(r#"'[^']*'|"[^"]*"|\S+"#).unwrap();
    word.find_iter(line).map(|found| found.as_str().trim_matches(['\'', '"']).to_owned()).collect()
}

fn try_command(command: &str) -> Result<(), String> {
    let only = command.split('|').next().unwrap_or(command);
    let only = only.split(" > ").next().unwrap_or(only);
    // `-p $(pgrep -x mariadbd)` and -o FILE: a page's server and files are not here.
    let target = tempfile::tempdir().unwrap();
    let text = regex::Regex::new(r"-p (PID|\$\([^)]*\))").unwrap().replace_all(only, "");
    let text = regex::Regex::new(r"(-o|--save) (\S+)")
        .unwrap()
        .replace_all(&text, format!("$1 {}/$2", target.path().display()).as_str());
    let mut words = words(&text).split_off(1);
    match words.first().map(String::as_str) {
        Some("run") if !words.contains(&"--print".to_owned()) => words.push("--print".into()),
        Some("run" | "scripts") => {}
        Some("replay" | "diff") if words.iter().any(|word| word.starts_with("d-scripts/")) => {}
        // The reader's own files, and machines: nothing to run here.
        _ => return Ok(()),
    }
    let out = Command::new(env!("CARGO_BIN_EXE_seatrace"))
        .args(words)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .map_err(|error| error.to_string())?;
    if out.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&out.stderr).into_owned()) }
}

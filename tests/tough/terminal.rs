//! Progress on a real terminal, which script(1) of util-linux gives. Elsewhere these tests are skipped.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::inputs::make_fifo;
use super::text;

/// What wipes the line of progress.
const WIPE: &str = "\r\u{1b}[2K";
/// Words of the note on a short trace, which comes after everything else.
const NOTE: &str = "seatrace: note: only 36 samples";

fn has_script() -> bool {
    let version = Command::new("script").arg("--version").output();
    let is_there = version.is_ok_and(|output| text(&output.stdout).contains("util-linux"));
    if !is_there {
        eprintln!("skipped: no script(1) of util-linux, to run in a terminal");
    }
    is_there
}

/// What a terminal of so many columns shows while a shell runs seatrace with `arguments`; `keys` are typed once progress is seen.
/// The program reads `pipe`, into which a line comes every 100 ms.
fn show(folder: &Path, columns: u32, arguments: &str, keys: &str) -> String {
    let pipe = folder.join("pipe");
    make_fifo(&pipe);
    let program = env!("CARGO_BIN_EXE_seatrace");
    let run = format!(
        "trap : INT\nstty rows 24 cols {columns}\nstty -g > before\n'{program}' replay {arguments}\necho $? > code\nstty -g > after\n"
    );
    fs::write(folder.join("run.sh"), run).expect("the folder is writable");
    let shown = folder.join("shown");
    // Whoever runs the tests in the background has Ctrl-C ignored, and all that they start.
    let mut terminal = Command::new("script")
        .args(["-qefc", "env --default-signal=INT sh run.sh"])
        .arg(&shown)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("script runs");
    let mut typed = terminal.stdin.take().expect("it is a pipe");
    let mut feed = fs::OpenOptions::new().write(true).open(&pipe).expect("it is opened for reading");
    for weight in 1..=16 {
        // After Ctrl-C nobody reads any more.
        let is_read = writeln!(feed, "main;a {}", if weight > 8 { weight - 8 } else { 0 }).is_ok();
        std::thread::sleep(Duration::from_millis(if is_read { 100 } else { 0 }));
    }
    if !keys.is_empty() {
        typed.write_all(keys.as_bytes()).expect("the terminal is there");
        let typed_at = Instant::now();
        while !folder.join("after").exists() && typed_at.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    drop(feed);
    terminal.wait().expect("it ends");
    drop(typed);
    let all = fs::read_to_string(shown).expect("what was shown is text");
    // Between script's own first and last line.
    let (_, all) = all.split_once('\n').unwrap_or_default();
    all.rsplit_once("\nScript done").map_or(all, |(shown, _)| shown).to_owned()
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).expect("it was written")
}

#[test]
fn progress_comes_after_a_second_and_is_wiped() {
    if !has_script() {
        return;
    }
    for columns in [80, 20] {
        let folder = tempfile::tempdir().expect("a folder");
        let shown = show(folder.path(), columns, "-f folded pipe > result", "");
        assert!(shown.contains(" B: pipe"), "{shown:?}");
        assert!(!shown.starts_with("0 B"), "it begins with what was read so far: {shown:?}");
        let (progress, rest) = shown.rsplit_once(WIPE).expect("it was wiped");
        assert!(rest.starts_with(NOTE) && !rest.contains('\u{1b}'), "{rest:?}");
        let widest = progress.split(WIPE).map(|line| line.chars().count()).max();
        assert!(widest <= Some(columns as usize), "a line was broken at {columns} columns: {shown:?}");
        assert_eq!(read(folder.path(), "result"), "main;a 36\n");
        assert_eq!(read(folder.path(), "code"), "0\n");
        assert_eq!(read(folder.path(), "before"), read(folder.path(), "after"));
    }
}

#[test]
fn progress_is_shown_where_results_are_not() {
    if !has_script() {
        return;
    }
    for (arguments, is_shown) in [
        ("-f folded pipe -o result", true),
        ("-f folded pipe", false),
        ("-f folded pipe -o -", false),
        ("-f folded pipe 2> errors", false),
        ("-q -f folded pipe > result", false),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let shown = show(folder.path(), 80, arguments, "");
        assert_eq!(shown.contains(" B: pipe"), is_shown, "{arguments}: {shown:?}");
        for file in ["result", "errors"] {
            let written = fs::read_to_string(folder.path().join(file)).unwrap_or_default();
            assert!(!written.contains('\u{1b}') && !written.contains(" B: "), "{arguments}: {written:?}");
        }
    }
}

#[test]
fn an_error_stands_on_a_line_of_its_own() {
    if !has_script() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    File::create(folder.path().join("bad")).expect("the folder is writable");
    let shown = show(folder.path(), 80, "-f folded pipe bad > result", "");
    let (_, rest) = shown.rsplit_once(WIPE).expect("it was wiped");
    assert!(rest.starts_with("seatrace: bad: "), "{rest:?}");
    assert_eq!(read(folder.path(), "code"), "1\n");
}

#[test]
fn interrupting_leaves_the_terminal_as_it_was() {
    if !has_script() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let shown = show(folder.path(), 80, "-f folded pipe > result", "\u{3}");
    assert!(shown.contains(" B: pipe"), "{shown:?}");
    assert_eq!(read(folder.path(), "code"), "130\n");
    assert_eq!(read(folder.path(), "before"), read(folder.path(), "after"));
    for changed in ["\u{1b}[?25l", "\u{1b}[?1049h"] {
        assert!(!shown.contains(changed), "no cursor is hidden, no screen changed: {shown:?}");
    }
}

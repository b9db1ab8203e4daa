//! Outputs that cannot be written: the failure is said, and what was there before stands.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

use super::{patiently, seatrace, text};

const SOON: Duration = Duration::from_secs(60);

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("in.folded"), "main;a 5\n").expect("it can be written");
    folder
}

#[test]
fn a_full_device_is_a_failure() {
    if !std::path::Path::new("/dev/full").exists() {
        eprintln!("skipped: no /dev/full on this system");
        return;
    }
    let folder = folder();
    for view in ["folded", "flame", "report", "json", "csv", "top"] {
        let output =
            patiently(&mut seatrace(folder.path(), &["replay", "in.folded", "-f", view, "-o", "/dev/full"]), SOON);
        assert_eq!(output.status.code(), Some(1), "{view}");
        assert!(text(&output.stderr).contains("No space left on device"), "{view}: {}", text(&output.stderr));
    }
    let mut command = seatrace(folder.path(), &["replay", "in.folded"]);
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("it is there");
    let output = command.stdout(full).stderr(std::process::Stdio::piped()).output().expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("No space left on device"), "{}", text(&output.stderr));
}

#[test]
fn a_failure_leaves_what_was_there() {
    let folder = folder();
    fs::write(folder.path().join("out.svg"), "old").expect("it can be written");
    fs::write(folder.path().join("empty"), "").expect("it can be written");
    let output = patiently(&mut seatrace(folder.path(), &["replay", "empty", "-o", "out.svg"]), SOON);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(fs::read_to_string(folder.path().join("out.svg")).expect("it is there"), "old");
    let mut names: Vec<String> = fs::read_dir(folder.path())
        .expect("it is there")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["empty", "in.folded", "out.svg"], "no temporary file stays");
}

#[test]
fn a_place_that_cannot_be_written_fails_before_reading() {
    let folder = folder();
    for (place, cause) in [("none/out.svg", "No such file"), (".", "is a directory: name a file in it")] {
        // Standard input never ends here: nothing may wait for it.
        let mut command = seatrace(folder.path(), &["replay", "-", "-f", "flame", "-o", place]);
        let output = patiently(command.stdin(std::process::Stdio::piped()), SOON);
        assert_eq!(output.status.code(), Some(1), "{place}");
        assert!(text(&output.stderr).contains(cause), "{place}: {}", text(&output.stderr));
    }
}

#[test]
fn a_fifo_is_written_in_place() {
    let folder = folder();
    let path = folder.path().join("pipe");
    super::inputs::make_fifo(&path);
    let there = path.clone();
    let reader = std::thread::spawn(move || fs::read_to_string(there).expect("a writer comes"));
    let output = patiently(&mut seatrace(folder.path(), &["replay", "in.folded", "-f", "folded", "-o", "pipe"]), SOON);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(reader.join().expect("it was written"), "main;a 5\n");
    assert!(!fs::metadata(path).expect("it is there").is_file());
}

#[test]
fn an_ordinary_link_stays_a_link() {
    let folder = folder();
    fs::write(folder.path().join("real"), "old").expect("it can be written");
    symlink("real", folder.path().join("link")).expect("it can be made");
    let args = ["replay", "in.folded", "-f", "folded", "-o", "link"];
    let output = patiently(&mut seatrace(folder.path(), &args), SOON);
    let is_link = folder.path().join("link").is_symlink();
    assert!(is_link, "the link itself is never replaced");
    // As root it is refused unless only root can have made it: the folder of this test is root's own.
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(fs::read_to_string(folder.path().join("real")).expect("it is there"), "main;a 5\n");
}

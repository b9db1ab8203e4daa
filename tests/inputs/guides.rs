//! The pages in docs/inputs: every `seatrace replay` in a console block runs on the file that it names, and prints what stands there.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The commands of a page with the output below them: `$ command`, then lines up to the next command or the end of the block.
fn commands(page: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| inside) {
            found.push((command.to_owned(), String::new()));
        } else if let Some((_, output)) = found.last_mut().filter(|_| inside) {
            output.push_str(line);
            output.push('\n');
        }
    }
    found
}

#[test]
fn pages_tell_the_truth() {
    let mut ran = 0;
    for entry in fs::read_dir(root().join("docs/inputs")).unwrap() {
        let path = entry.unwrap().path();
        for (command, wanted) in commands(&fs::read_to_string(&path).unwrap()) {
            // Commands that make a file need a server or a kernel; those that read one run here.
            let Some(arguments) = command.strip_prefix("seatrace ").filter(|_| !command.contains('|')) else {
                continue;
            };
            let out = Command::new(env!("CARGO_BIN_EXE_seatrace"))
                .args(arguments.split(' '))
                .current_dir(root().join("tests/data"))
                .stdin(Stdio::null())
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
            assert_eq!(said.trim_end(), wanted.trim_end(), "{}: {command}", path.display());
            ran += 1;
        }
    }
    assert!(ran >= 8, "only {ran} commands ran");
}

//! Our declarations of libdtrace against the real headers, where they are installed (package libdtrace2-dev).

use std::path::Path;
use std::process::Command;

use crate::machine::ROOT;

#[test]
fn our_header_agrees_with_the_real_one() {
    if !Path::new("/usr/include/dtrace.h").exists() {
        eprintln!("skipped: no dtrace.h on this machine; see tests/machine/sid-root");
        return;
    }
    let source = Path::new(ROOT).join("tests/live/compare.c");
    let include = Path::new(ROOT).join("src/live/abi");
    // For headers that libdtrace2-dev includes and does not bring along; after the system's folders.
    let stubs = Path::new(ROOT).join("tests/live/stubs");
    let output = Command::new("cc")
        .args(["-std=gnu11", "-fsyntax-only", "-Wall", "-Werror", "-I"])
        .arg(&include)
        .arg("-idirafter")
        .args([&stubs, &source])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

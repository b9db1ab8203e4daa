//! macOS: root, System Integrity Protection, and how the server is signed.

use std::path::Path;

use super::eyes::Eyes;
use super::finding::{Finding, State};
use crate::server::Origin;

/// What of the system decides.
pub(super) fn examine(eyes: &dyn Eyes) -> Vec<Finding> {
    let privileges = if eyes.is_root() {
        Finding::good("privileges", "root")
    } else {
        Finding::bad("privileges", "not root: DTrace says `requires additional privileges`", "run it with sudo")
    };
    vec![privileges, protection(&eyes.run(&["/usr/bin/csrutil", "status"]).unwrap_or_default())]
}

/// What `csrutil status` says: on, off, or on without the part that holds DTrace back.
fn protection(status: &str) -> Finding {
    let says = |word: &str| status.lines().any(|line| line.to_lowercase().contains(word));
    if says("dtrace restrictions: disabled") {
        Finding::good("protection", "System Integrity Protection leaves DTrace alone")
    } else if says("status: disabled") {
        Finding::good("protection", "System Integrity Protection is off")
    } else if says("status: enabled") || says("dtrace restrictions: enabled") {
        Finding::lacks(
            "protection",
            "System Integrity Protection is on: kernel probes are held back, and so are processes of Apple and of the hardened runtime",
            "own builds of the server can be traced by static probes and pid forms as it is; for the rest start the Recovery system and give \
             `csrutil enable --without dtrace`",
            &["fbt", "sched", "io", "lockstat", "vminfo"],
        )
    } else {
        Finding::doubt(
            "protection",
            "csrutil does not tell the state of System Integrity Protection",
            "look with: csrutil status",
        )
    }
}

/// Whether macOS lets DTrace take hold of a process of this executable. `system`: what was found out about the system.
pub(super) fn may_be_traced(path: &Path, origin: &Origin, system: &[Finding], eyes: &dyn Eyes) -> Vec<Finding> {
    let mut found = Vec::new();
    let machine = eyes.run(&["/usr/bin/uname", "-m"]).unwrap_or_default();
    if origin.is_x86_64 && machine.trim() == "arm64" {
        found.push(Finding::bad(
            "translation",
            "built for x86-64, so it runs under Rosetta here: DTrace cannot instrument translated processes",
            "an arm64 build of the server",
        ));
    }
    let protected = system.iter().any(|finding| finding.about == "protection" && finding.state != State::Good);
    let path = path.to_string_lossy();
    let signature =
        eyes.run(&["/usr/bin/codesign", "-d", "--verbose=2", "--entitlements", "-", &path]).unwrap_or_default();
    found.push(signed(&signature, protected));
    found
}

/// What codesign(1) tells: `flags=0x10000(runtime)` is the hardened runtime, which only the entitlement get-task-allow opens while
/// System Integrity Protection is on.
fn signed(signature: &str, protected: bool) -> Finding {
    let flags = signature.lines().find_map(|line| line.split_once("flags=")?.1.split_once('(')?.1.split_once(')'));
    let flags: Vec<&str> = flags.map_or(Vec::new(), |(names, _)| names.split(',').collect());
    let is_closed =
        flags.contains(&"runtime") || flags.contains(&"restrict") || signature.contains("Authority=Software Signing");
    let is_open = signature.contains("com.apple.security.get-task-allow");
    match (is_closed && !is_open, protected) {
        (false, _) if signature.is_empty() => {
            Finding::doubt("signature", "codesign does not tell how it is signed", "")
        }
        (false, _) => Finding::good("signature", "none that keeps DTrace out"),
        (true, false) => {
            Finding::good("signature", "hardened, which matters only while System Integrity Protection is on")
        }
        (true, true) => Finding::bad(
            "signature",
            "hardened or restricted: while System Integrity Protection is on DTrace may not take hold of it",
            "your own build, or a copy signed anew: codesign -s - -f --entitlements FILE SERVER, with com.apple.security.get-task-allow in FILE",
        ),
    }
}

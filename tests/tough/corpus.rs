//! The corpora of the fuzz targets, run once more: what fuzzing found stays found.

use std::fs;
use std::path::Path;

use seatrace::fuzzing;

type Target = (&'static str, fn(&[u8]));
const TARGETS: &[Target] = &[
    ("reader", fuzzing::reader),
    ("content", fuzzing::content),
    ("folded_round_trip", fuzzing::folded_round_trip),
    ("symbol", fuzzing::symbol),
    ("fingerprint", fuzzing::fingerprint),
    ("plan", fuzzing::plan),
    ("dump_round_trip", fuzzing::dump_round_trip),
];

/// In a thread with the stack of a main thread: debug builds of the demangler need most of it.
#[test]
fn fuzz_corpus() {
    let thread = std::thread::Builder::new().stack_size(8 << 20).spawn(replay).expect("a thread");
    thread.join().expect("no input fails");
}

fn replay() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    for (name, run) in TARGETS {
        let files = fs::read_dir(fuzz.join("corpus").join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut count = 0;
        for file in files {
            let path = file.expect("an entry").path();
            let bytes = fs::read(&path).expect("a file");
            if std::panic::catch_unwind(|| run(&bytes)).is_err() {
                panic!("{name} fails on {}", path.display());
            }
            count += 1;
        }
        println!("{name}: {count} inputs");
        assert!(count > 0, "{name} has no corpus");
    }
    let targets = fs::read_dir(fuzz.join("fuzz_targets")).expect("a folder");
    for target in targets {
        let name = target.expect("an entry").file_name().to_string_lossy().replace(".rs", "");
        assert!(TARGETS.iter().any(|(known, _)| *known == name), "{name} is not replayed");
    }
}

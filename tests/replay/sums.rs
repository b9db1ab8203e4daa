//! Weight is conserved: the sum of all stacks equals the sum of the values in the file, as tests/replay/count_stacks.py adds them up in its own
//! way.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use seatrace::model::Trace;

use crate::support::{read_file, show, stack_total};

/// Files whose stacks have values that dtrace(1) did not print by itself: nothing or something else is read of them, which the notes say.
const EXCEPTIONS: [&str; 3] = [
    // `printa("%kthread %d: %@d samples\n", @)`: the value stands in a sentence.
    "oncpu_printa.out.gz",
    // `ustack()` in a clause: no values; each is taken as one sample, and 67 are found.
    "oncpu_trace.out.gz",
    // `printa("\n%s%ksum %@d  max %@d\n", …)`: two values in a sentence.
    "vm-p2-keys.txt.gz",
];

/// Stacks that are not drawn with the others, since their values are counts and the others' are not known to be: a note names that weight.
const LEFT_OUT: [(&str, i128); 1] = [("vm-q3-fbt.txt.gz", 162)];

/// Files without stacks, in which the counting script takes key texts for frames.
const WITHOUT_STACKS: [&str; 6] = [
    "aggs.out.gz",
    "aggs_quant.out.gz",
    "aggs_sortkey_rev.out.gz",
    "periodic.out.gz",
    "periodic_not_quiet.out.gz",
    "printa.out.gz",
];

#[test]
fn stacks_add_up_as_counted_by_a_script() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/dtrace");
    let mut files: Vec<String> = std::fs::read_dir(&folder)
        .expect("tests/data/dtrace is a folder")
        .map(|entry| entry.expect("its entries can be read").file_name().into_string().expect("names are UTF-8"))
        .filter(|name| !EXCEPTIONS.contains(&name.as_str()) && !WITHOUT_STACKS.contains(&name.as_str()))
        .filter(|name| name.ends_with(".gz"))
        .collect();
    files.sort();
    let counted = counted(&folder, &files);
    let mut with_stacks = 0;
    for file in &files {
        let trace = read_file(&folder.join(file));
        let (rows, sum) = counted[file];
        assert_eq!(stack_total(&trace), sum, "{file}: sum of {rows} stacks");
        if rows > 0 {
            let left_out = LEFT_OUT.iter().find(|(name, _)| name == file).map_or(0, |(_, weight)| *weight);
            assert_eq!(folded_sum(&trace), sum - left_out, "{file}: sum of -f folded");
            with_stacks += 1;
        }
    }
    assert_eq!(with_stacks, 22, "files with stacks");
}

/// Sum of the lines that `-f folded` prints.
fn folded_sum(trace: &Trace) -> i128 {
    let lines = show(trace, "folded");
    lines.lines().filter_map(|line| line.rsplit_once(' ')?.1.parse::<i128>().ok()).sum()
}

/// Rows and sum of each file, by the script.
fn counted(folder: &Path, files: &[String]) -> BTreeMap<String, (u64, i128)> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/replay/count_stacks.py");
    let output = Command::new("python3").arg(script).args(files).current_dir(folder).output().expect("python3 runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("the script prints ASCII");
    text.lines()
        .map(|line| {
            let mut words = line.split(' ');
            let mut word = || words.next().expect("three words a line");
            (word().to_owned(), (word().parse().expect("rows"), word().parse().expect("sum")))
        })
        .collect()
}

#[test]
fn exceptions_are_told() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/dtrace");
    let notes = |file: &str| crate::support::notes(&read_file(&folder.join(file)));
    // 68 stacks, 13 and 67: grep -c '^thread ', grep -c '^sum ', grep -c profile-97.
    assert!(notes("oncpu_printa.out.gz").contains("stack whose value has a format of its own, left out: 68 times"));
    assert!(notes("vm-p2-keys.txt.gz").contains("stack whose value has a format of its own, left out: 13 times"));
    assert!(notes("oncpu_trace.out.gz").contains("stacks without a value, each taken as one sample: 67 times"));
}

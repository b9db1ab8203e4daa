//! The recording of query-off-cpu: six causes of waiting, made on purpose, are each to be seen in the picture.

use std::path::Path;

use seatrace::format;
use seatrace::input::Input;
use seatrace::model::Trace;

use crate::support::{show, trace};

fn recording() -> Trace {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("d-scripts/query-off-cpu-pid.out");
    let mut trace = trace();
    let mut input = Input::from_read("recording", Box::new(std::fs::File::open(file).unwrap())).unwrap();
    format::read(&mut input, None, &Default::default(), &mut trace).unwrap();
    trace.finish();
    trace
}

/// What tests/machine/vm-guest planted: as text and prepared, the call, a function that says for what.
const PLANTED: [([&str; 2], &str, &str); 6] = [
    (
        [
            "update shop.stock set amount = amount - 1 where id = 1",
            "update shop.stock set amount = amount - 2 where id = 2",
        ],
        "pthread_cond_timedwait",
        "MDL_wait::timed_wait",
    ),
    (
        ["update shop.visits set page = 'x' where id = 1", "update shop.visits set page = 'y' where id = 2"],
        "pthread_cond_timedwait",
        "thr_multi_lock",
    ),
    (
        ["update shop.accounts set amount = 2 where id = 7", "update shop.accounts set amount = 3 where id = 7"],
        "pthread_cond_timedwait",
        "handler::ha_index_read_map",
    ),
    (
        ["select get_lock('shop.batch', 80)", "select get_lock('shop.batch', 70)"],
        "pthread_cond_timedwait",
        "Item_func_get_lock::val_int",
    ),
    (
        ["select id, note from shop.orders order by note desc", "select note, id from shop.orders order by note desc"],
        "other",
        "filesort",
    ),
    (
        ["update shop.stock set amount = amount - 1 where id = 1", "insert into shop.log values ('prepared')"],
        "fdatasync",
        "ha_commit_trans",
    ),
];

#[test]
fn each_planted_wait_stands_under_its_statement() {
    let trace = recording();
    // There, a blank before a number at the end does not break, so that the number is no count.
    let folded = show("folded", &trace, &[]).replace('\u{a0}', " ");
    let picture = show("flame", &trace, &["--width", "4000", "--minwidth", "0"]);
    for (texts, call, function) in PLANTED {
        for text in texts {
            let stack = |line: &&str| {
                line.starts_with(&format!("{text};{call};")) && line.contains(&format!(";mariadbd`{function}"))
            };
            assert!(folded.lines().any(|line| stack(&line)), "{text}: no {function} in {call}");
            let shown = text.replace('\'', "&#39;");
            assert!(picture.contains(&format!("<title>{shown} (")), "{text} is not in the picture");
        }
        assert!(picture.contains(&format!("<title>mariadbd`{function}")), "{function} is not in the picture");
    }
}

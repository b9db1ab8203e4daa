//! Recorded output of dtrace(1): what is in it, counted by hand or by the numbers that other aggregations of the same run print.

use std::path::Path;

use seatrace::model::{Function, KeyKind, Series, Trace};

use crate::support::{folded, notes, read, read_file, value_of};

fn recorded(name: &str) -> Trace {
    read_file(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/dtrace").join(name))
}

fn named<'a>(trace: &'a Trace, name: Option<&str>, keys: &[KeyKind]) -> &'a Series {
    let same = |series: &&Series| {
        series.name.as_deref() == name && series.keys.iter().map(|key| key.kind).eq(keys.iter().copied())
    };
    trace.series.iter().find(same).expect("a series of that name and shape")
}

#[test]
fn aggregations_without_names_are_told_apart() {
    // aggs.d: @calls, @total, @mean, @low, @high, @dev by query, @bycmd, @all, @alltime, in this order.
    let trace = recorded("aggs.out.gz");
    let text = [KeyKind::Text];
    let by_query: Vec<&Series> = [None, Some("#2"), Some("#3"), Some("#4"), Some("#5"), Some("#6")]
        .map(|name| named(&trace, name, &text))
        .into();
    let rows: Vec<usize> = by_query.iter().map(|series| series.len()).collect();
    assert_eq!(rows, [1511; 6]);
    // The totals without keys, which the program counted itself: 5310 calls, 3321455977 ns.
    assert_eq!(named(&trace, None, &[]).total(), 5310);
    assert_eq!(named(&trace, Some("#2"), &[]).total(), 3321455977);
    assert_eq!(by_query[0].total(), 5310);
    assert_eq!(by_query[1].total(), 3321455977);
    assert_eq!(named(&trace, None, &[KeyKind::Int, KeyKind::Int]).total(), 5310);
    assert_eq!(trace.series.len(), 9);
}

#[test]
fn odd_texts_of_keys_come_back_as_they_were_sent() {
    let trace = recorded("aggs.out.gz");
    let has = |text: &str| value_of(&trace, &[text]).is_some();
    // From load_odd_queries.py, which ran while this was recorded.
    assert!(has("select 'looks like a dump'\n                3\n  mariadbd`foo+0x10\n"));
    assert!(has("INSERT INTO audit_log (msg) VALUES ('line one\nline two\n\nline four with \ttab')"));
    assert!(has("SELECT count(*) FROM customers WHERE city = '東京' /* emoji 🐬 */"));
    assert!(has("SELECT\r\n  3\r\n"));
    assert!(has("SELECT 'ends with newline'\n"));
    assert!(has("   SELECT   2   ;"));
}

#[test]
fn distributions_of_all_three_functions() {
    let trace = recorded("aggs_quant.out.gz");
    // @all = quantize of 4453 statements; the same number by each other way.
    for (name, function, keys) in [
        (None, Function::Quantize, &[KeyKind::Text][..]),
        (None, Function::Quantize, &[]),
        (Some("#2"), Function::Quantize, &[]),
        (None, Function::Lquantize, &[KeyKind::Text]),
    ] {
        let series = trace.series.iter().find(|series| {
            series.name.as_deref() == name
                && series.function == function
                && series.keys.iter().map(|key| key.kind).eq(keys.iter().copied())
        });
        assert_eq!(series.map(Series::total), Some(4453), "{name:?} {function:?} {keys:?}");
    }
    // @neg: the last bucket but one of `-8 76, -4 4241, -1 68, 4 68`.
    let negative = named(&trace, Some("#2"), &[]).rows().next().expect("a row");
    let buckets: Vec<_> =
        negative.distribution.expect("a distribution").buckets().iter().map(|b| (b.low, b.high, b.count)).collect();
    assert_eq!(buckets, [(-15, -7, 76), (-7, -3, 4241), (-1, 0, 68), (4, 8, 68)]);
}

#[test]
fn running_totals_show_the_last_pass() {
    // periodic.d prints @t and @n every two seconds. By awk, the last block of @n adds up to 3792.
    let trace = recorded("periodic_not_quiet.out.gz");
    assert_eq!(named(&trace, Some("#2"), &[KeyKind::Text]).total(), 3792);
    assert_eq!(named(&trace, None, &[KeyKind::Text]).passes_decided(), (0, 1));
    assert!(notes(&trace).contains("the last pass is shown"));
}

#[test]
fn the_kernel_stack_stands_above_the_user_stack() {
    let row = "\n  t-queue                                           \n              vmlinux`__schedule+0x4f2\n              vmlinux`schedule+0x27\n\n              libc.so.6`futex_wait+0x1\n              prog`main+0x2\n         10071296\n";
    assert_eq!(folded(row), "t-queue;prog`main;libc.so.6`futex_wait;vmlinux`schedule;vmlinux`__schedule 10071296\n");
    // User first in the key: the same picture.
    let row = "\n  t-queue                                           \n              libc.so.6`futex_wait+0x1\n              prog`main+0x2\n\n              vmlinux`__schedule+0x4f2\n              vmlinux`schedule+0x27\n         10071296\n";
    assert_eq!(folded(row), "t-queue;prog`main;libc.so.6`futex_wait;vmlinux`schedule;vmlinux`__schedule 10071296\n");
    assert!(!notes(&recorded("oncpu_kernel.out.gz")).contains("several times"));
}

#[test]
fn numbers_under_a_stack_are_keys_if_narrow_and_values_if_wide() {
    let frames = "\n\n              db`leaf\n              db`main\n";
    assert_eq!(folded(format!("{frames}      528                7\n")), "528;db`main;db`leaf 7\n");
    let trace = read(format!("{frames}                7               90\n"));
    let totals: Vec<i128> = trace.series.iter().map(Series::total).collect();
    assert_eq!(totals, [7, 90]);
}

#[test]
fn negative_values_stay_negative() {
    assert_eq!(
        folded("\n\n              db`main\n               -5\n\n              db`other\n                7\n"),
        "db`main -5\ndb`other 7\n"
    );
}

#[test]
fn a_cut_end_counts_with_a_note() {
    let trace = read("\n\n              db`main\n                5\n\n              db`other\n                7");
    assert_eq!(value_of(&trace, &["db`other"]), Some(7));
    assert!(notes(&trace).starts_with("the last line has no end: it may be cut (input:7)"), "{}", notes(&trace));
    let cut = read("\n\n              db`main\n                5\n\n              db`other\n");
    assert!(notes(&cut).contains("stack without its value at the end"), "{}", notes(&cut));
}

#[test]
fn rows_drawn_as_bars() {
    let hist = "\n              key  ------------- Distribution ------------- count    \n             read |@@@@@@@@@@                               12       \n            write |@@@@@                                    6        \n\n";
    let trace = read(hist);
    assert_eq!((value_of(&trace, &["read"]), value_of(&trace, &["write"])), (Some(12), Some(6)));
}

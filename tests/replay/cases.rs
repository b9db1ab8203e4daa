//! Cases from practice, each named after its number. `␤` in their descriptions is an empty line here.

use seatrace::format::Options;
use seatrace::model::{Filter, Passes, Trace};
use seatrace::symbol::Cleaner;

use crate::support::{Reading, folded, notes, read, show, value_of};

/// A stack as dtrace(1) prints it: frames innermost first, then the value.
fn stack(frames: &[&str], value: u64) -> String {
    let mut text = "\n".to_owned();
    frames.iter().for_each(|frame| text.push_str(&format!("              {frame}\n")));
    text + &format!(" {value:>16}\n")
}

#[test]
fn br_01_stacks_are_found_by_content_not_by_counting_lines() {
    for blanks in ["\n\n", "\n", "", "\n\n\n"] {
        let input = format!("{blanks}              db`leafA+0x4\n              db`root+0x8\n                5\n");
        assert_eq!(folded(input), "db`root;db`leafA 5\n");
    }
    let banner = "# heap trace of db\nhit ctrl-c to stop\n# ----\n81234567\n\n\n              libc.so.1`malloc\n              db`row_new+0x10\n                13\n";
    assert_eq!(folded(banner), "db`row_new;libc.so.1`malloc 13\n");
    assert_eq!(
        notes(&read(banner)).lines().next(),
        Some("lines that are no stack, row or distribution, passed over: 4 times")
    );
}

#[test]
fn br_02_text_that_ends_in_a_number_is_one_frame() {
    let trace = read("conn;SELECT 1 5\nconn;Limit: 3 7 9\n");
    assert_eq!(value_of(&trace, &["conn", "SELECT 1"]), Some(5));
    assert_eq!(value_of(&trace, &["conn", "Limit: 3 7"]), Some(9));
    // What we write is read back as the same two frames, also by tools that take a second number for a count.
    let written = show(&trace, "folded");
    for line in written.lines() {
        let (frames, _) = line.rsplit_once(' ').expect("a weight");
        assert!(!frames.ends_with(|c: char| c.is_ascii_digit()) || !frames.contains(" 1"), "{line}");
        assert_eq!(frames.split(';').count(), 2);
    }
    let two = Options { two_counts: true, ..Options::default() };
    let trace = Reading { options: two, ..Reading::default() }.of(b"main;a 5 7\nmain;b 1 0\n");
    let totals: Vec<(Option<&str>, i128)> =
        trace.series.iter().map(|series| (series.name.as_deref(), series.total())).collect();
    assert_eq!(totals, [(Some("after"), 7), (Some("before"), 6)]);
}

#[test]
fn br_05_diagnostics_are_no_frames() {
    let input = "\n\ndtrace: 12 drops on CPU 0\n              db`leaf+0x1\ndtrace: error on enabled probe ID 3 (ID 77: profile:::profile-97): invalid address (0x10) in action #1\n              db`main+0x2\n                5\n";
    assert_eq!(folded(input), "db`main;db`leaf 5\n");
    let said = notes(&read(input));
    assert!(said.starts_with("12 drops on CPU 0 (data lost)\n1 probe error: invalid address\n"), "{said}");
}

#[test]
fn br_06_keys_go_to_the_root() {
    let row =
        |name: &str| format!("  {name:<50}\n              db`leaf+0x1\n              db`root+0x2\n                5\n");
    assert_eq!(folded(format!("\n{}", row("mysqld"))), "mysqld;db`root;db`leaf 5\n");
    // A number, and a text with a line end.
    let keys = format!("  {:<50} {:>8}", "mysqld", 528);
    let input = format!("\n{keys}\n              db`leaf+0x1\n              db`root+0x2\n                5\n");
    assert_eq!(folded(input), "mysqld;528;db`root;db`leaf 5\n");
    let text = "SELECT *\n  FROM t";
    assert_eq!(
        read(format!("\n{}", row(text))).names.get(first_key(&read(format!("\n{}", row(text))))),
        "SELECT *\n  FROM t"
    );
    // Keys behind the stack stand with the value.
    let input = format!("\n\n              db`leaf+0x1\n              db`root+0x2\n  {:<50} {:>16}\n", "mysqld", 5);
    assert_eq!(folded(input), "mysqld;db`root;db`leaf 5\n");
}

fn first_key(trace: &Trace) -> seatrace::model::NameId {
    trace.series[0].rows().next().expect("a row").keys[0]
}

#[test]
fn br_08_only_the_last_parameter_list_goes() {
    let input = stack(
        &[
            "db`std::function<void (int)>::operator()(int) const+0x1",
            "db`(anonymous namespace)::plan(Item*)+0x2",
            "db`do_command(THD*)+0x3",
        ],
        1,
    );
    let short = "db`do_command;db`(anonymous namespace)::plan;db`std::function<void (int)>::operator() 1\n";
    assert_eq!(folded(&input), short);
    let cleaner = Cleaner { params: true, ..Cleaner::default() };
    let full = "db`do_command(THD*);db`(anonymous namespace)::plan(Item*);db`std::function<void (int)>::operator()(int) const 1\n";
    assert_eq!(show(&Reading { cleaner, ..Reading::default() }.of(input.as_bytes()), "folded"), full);
}

#[test]
fn br_10_offsets_are_taken_off_frame_by_frame() {
    let input = stack(&["db`leaf", "db`mid+0x10", "db`root+0x20"], 7);
    assert_eq!(folded(&input), "db`root;db`mid;db`leaf 7\n");
    let cleaner = Cleaner { offsets: true, ..Cleaner::default() };
    let trace = Reading { cleaner, ..Reading::default() }.of(input.as_bytes());
    assert_eq!(show(&trace, "folded"), "db`root+0x20;db`mid+0x10;db`leaf 7\n");
}

#[test]
fn br_11_a_distribution_below_a_stack() {
    let input = "\n              db`leaf\n              db`main\n\n           value  ------------- Distribution ------------- count    \n             256 |                                         0        \n             512 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@           3        \n            1024 |@@@@@@@@@@                               1        \n            2048 |                                         0        \n\n";
    assert_eq!(folded(input), "db`main;db`leaf 4\n");
    let trace = read(input);
    let row = trace.series[0].rows().next().expect("a row");
    let buckets: Vec<_> =
        row.distribution.expect("a distribution").buckets().iter().map(|b| (b.low, b.high, b.count)).collect();
    assert_eq!(buckets, [(512, 1024, 3), (1024, 2048, 1)]);
}

#[test]
fn br_13_frames_without_symbols_are_merged_and_told() {
    let input = stack(&["0x18bc3d388", "db`0x1a2b", "db`main+0x8"], 3)
        + &stack(&["0x18bc3d390", "db`0x1a2f", "db`main+0x8"], 2);
    assert_eq!(folded(&input), "db`main;db`[unknown];[unknown] 5\n");
    assert!(notes(&read(&input)).contains("67% of frames unresolved"), "{}", notes(&read(&input)));
    let cleaner = Cleaner { addresses: true, ..Cleaner::default() };
    let kept = show(&Reading { cleaner, ..Reading::default() }.of(input.as_bytes()), "folded");
    assert_eq!(kept, "db`main;db`0x1a2b;0x18bc3d388 3\ndb`main;db`0x1a2f;0x18bc3d390 2\n");
}

#[test]
fn br_21_nothing_captured() {
    let refused = |input: &str| Reading::default().try_of(input.as_bytes()).err().map(|error| error.to_string());
    assert!(refused("").is_some_and(|text| text.contains("the input is empty") && text.contains("server busy")));
    assert!(
        refused("<?xml version=\"1.0\"?>\n<svg version=\"1.1\">")
            .is_some_and(|text| text.contains("give the folded file"))
    );
    let title = read("CPU     ID                    FUNCTION:NAME\n");
    assert!(title.is_empty());
    assert_eq!(notes(&title), "nothing but dtrace's title line: no probe fired, or nothing was printed\n");
    assert!(notes(&read(stack(&["db`main"], 5))).contains("only 5 samples: too few to judge by"));
}

#[test]
fn br_24_bytes_that_are_not_utf8() {
    let input = b"\n\n\n   db`f\xff+0x1\n   db`main\n   2\n";
    assert_eq!(folded(input), "db`main;db`f\u{fffd} 2\n");
    assert!(notes(&read(input)).contains("1 names hold bytes that are not UTF-8"));
}

#[test]
fn br_33_an_empty_stack_has_a_name() {
    assert_eq!(folded("\n\n\n                4\n"), "[no stack] 4\n");
    let among = stack(&["db`a"], 1) + "\n                4\n" + &stack(&["db`b"], 9);
    let trace = Reading { from: Some("dtrace"), ..Reading::default() }.of(format!("\n{among}").as_bytes());
    assert_eq!(show(&trace, "folded"), "[no stack] 4\ndb`a 1\ndb`b 9\n");
    assert_eq!(folded("a;b 5\n 4\n"), "[no stack] 4\na;b 5\n");
}

/// Two passes with a line of the probe before each.
const TWO_DUMPS: &str = "\
CPU     ID                    FUNCTION:NAME
  2  64091                         :tick-1s 
              app`a+0x1
              app`root+0x2
                4

  0  64091                         :tick-1s 
              app`a+0x1
              app`root+0x2
                6
";

#[test]
fn br_35_several_passes_in_one_file() {
    assert_eq!(folded(TWO_DUMPS), "app`root;app`a 6\n");
    assert!(notes(&read(TWO_DUMPS)).contains("the last pass is shown"));
    let with = |passes| show(&Reading { passes, ..Reading::default() }.of(TWO_DUMPS.as_bytes()), "folded");
    assert_eq!(with(Passes::Sum), "app`root;app`a 10\n");
    assert_eq!(with(Passes::Last), "app`root;app`a 6\n");
    assert_eq!(with(Passes::Each), "1;app`root;app`a 4\n2;app`root;app`a 6\n");
    // A value that falls: the passes are no running totals.
    let falling = TWO_DUMPS.replace("                6\n", "                3\n");
    assert_eq!(folded(&falling), "app`root;app`a 7\n");
    assert!(notes(&read(&falling)).contains("the passes are added up"));
}

#[test]
fn br_37_numbers_beyond_64_bits() {
    let trace = read("a 18446744073709551615\nb 1\n");
    assert_eq!(trace.series[0].total(), 18446744073709551616);
    assert!(notes(&trace).contains("value near 2^64: likely an underflow"), "{}", notes(&trace));
    let dump = stack(&["db`main"], 18446744073709551615) + &stack(&["db`other"], 1);
    assert_eq!(folded(dump), "db`main 18446744073709551615\ndb`other 1\n");
}

#[test]
fn br_42_rust_names() {
    let frame = "shop`_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..clone..Clone$GT$::clone::h0123456789abcdef+0x1a";
    assert_eq!(folded(stack(&[frame], 1)), "shop`<alloc::vec::Vec<T> as core::clone::Clone>::clone 1\n");
}

#[test]
fn br_44_java_frames() {
    let input = stack(&["Lshop/Db;::query", "main"], 2);
    assert_eq!(folded(input), "main;shop/Db::query 2\n");
}

#[test]
fn br_48_direct_recursion_can_be_folded() {
    let input = "main;fib;fib;fib 4\nmain;fib 1\nmain;ev;fib;ev;fib 2\n";
    assert_eq!(folded(input), "main;ev;fib;ev;fib 2\nmain;fib 1\nmain;fib;fib;fib 4\n");
    let options = seatrace::view::Options { fold_recursion: true, ..Default::default() };
    assert_eq!(crate::support::show_with(&read(input), "folded", &options), "main;ev;fib;ev;fib 2\nmain;fib 5\n");
}

#[test]
fn br_45_annotations_belong_to_the_frame_above() {
    let input = stack(&["db`vm_run+0x4", "[ /app/jobs.sql:42 ]", "db`main+0x8"], 3);
    assert_eq!(folded(input), "db`main;db`vm_run [/app/jobs.sql:42] 3\n");
    let deeper = stack(&["db`vm_run+0x4", "  [ /app/jobs.sql:42 ]", "<< internal >>", "db`main+0x8"], 3);
    assert_eq!(folded(deeper), "db`main;<< internal >>;db`vm_run [/app/jobs.sql:42] 3\n");
}

#[test]
fn br_49_cut_texts_are_marked() {
    let text = "x".repeat(300);
    let record = |kept: usize| format!("query\t{}\n", &text[..kept]);
    let dump = format!(
        "# seatrace\t1\n# strsize\t256\n# record\tquery\tquery:text\n{}{}# stop\t1\n",
        record(255),
        record(254) + "\\0"
    );
    let trace = read(dump.replace("\n\\0", "\\0\n"));
    let cut: Vec<(usize, bool)> = trace.queries.iter().map(|query| (query.text.len(), query.cut)).collect();
    assert_eq!(cut, [(255, true), (254, false)]);
    assert!(notes(&trace).contains("statements whose text was cut at 255 bytes"), "{}", notes(&trace));
    // Where the length is known, it decides.
    let known = "# seatrace\t1\n# record\tquery\tlength:bytes\tquery:text\nquery\t9\tSELECT 1\\0\nquery\t8\tSELECT 1\\0\n# stop\t1\n";
    let cut: Vec<bool> = read(known).queries.iter().map(|query| query.cut).collect();
    assert_eq!(cut, [true, false]);
}

#[test]
fn br_72_bad_folded_lines_cost_themselves() {
    let trace = read("a;b 10\n\nno count\nc 2.5\nd 0\n");
    // 12.5 in tenths.
    assert_eq!(trace.series[0].total(), 125);
    let said = notes(&trace);
    assert!(said.starts_with("line is no folded stack, skipped (input:3)\n"), "{said}");
    assert!(said.contains("all are multiplied by 10"), "{said}");
}

#[test]
fn br_74_memory_follows_distinct_content() {
    let one = stack(&["db`leaf+0x1", "db`main+0x2"], 3) + &stack(&["db`other+0x1", "db`main+0x2"], 4);
    let many = Reading { passes: Passes::Sum, ..Reading::default() }.of(one.repeat(20_000).as_bytes());
    assert_eq!(many.series.iter().map(|series| series.len()).sum::<usize>(), 2);
    assert_eq!(many.series[0].total(), 140_000);
}

#[test]
fn filters_tell_what_they_take_out() {
    let input = stack(&["db`leaf", "db`main"], 5) + &stack(&["db`other", "db`start"], 7);
    let regex = |text: &str| regex::Regex::new(text).expect("a regular expression");
    let with = |filter| Reading { filter, ..Reading::default() }.of(input.as_bytes());
    let only = with(Filter { only: vec![regex("leaf")], ..Filter::default() });
    assert_eq!(show(&only, "folded"), "db`main;db`leaf 5\n");
    assert!(notes(&only).contains("rows left out by filters, weight 7"), "{}", notes(&only));
    let without = with(Filter { without: vec![regex("leaf")], ..Filter::default() });
    assert_eq!(show(&without, "folded"), "db`start;db`other 7\n");
    let root = with(Filter { root: Some(regex("leaf|other")), ..Filter::default() });
    assert_eq!(show(&root, "folded"), "db`leaf 5\ndb`other 7\n");
}

#[test]
fn keys_are_chosen_and_dropped_by_name_or_place() {
    let row = |name: &str, value: u64| format!("  {name:<50}\n              db`main\n {value:>16}\n");
    let input = format!("\n{}{}", row("mysqld", 5), row("other", 7));
    let with = |filter| Reading { filter, ..Reading::default() }.of(input.as_bytes());
    let chosen = with(Filter { keys: vec![("1".into(), "mysqld".into())], ..Filter::default() });
    assert_eq!(show(&chosen, "folded"), "mysqld;db`main 5\n");
    let dropped = with(Filter { drop_keys: vec!["1".into()], ..Filter::default() });
    assert_eq!(show(&dropped, "folded"), "db`main 12\n");
}

#[test]
fn the_table_of_query_time_d() {
    // 497 rows of 700 lines in the whole recording; here the first 190 lines. Counted by a regular expression in Python.
    let trace = read(include_bytes!("../data/query_time_table/mariadb.out"));
    assert_eq!(trace.queries.len(), QUERIES);
    let milliseconds: u64 = trace.queries.iter().filter_map(|query| query.elapsed).sum::<u64>() / 1_000_000;
    assert_eq!(milliseconds, MILLISECONDS);
    let query = &trace.queries[4];
    assert_eq!(query.text, "INSERT INTO audit_log (msg) VALUES ('line one\nline two\n\nline four')");
    assert_eq!((query.who().as_str(), query.database.as_deref()), ("sbtest@10.0.0.7", Some("sbtest")));
    assert_eq!(query.elapsed, Some(15_000_000));
    assert!(trace.queries.iter().any(|query| query.cut && query.text.len() == 255));
}

const QUERIES: usize = 127;
const MILLISECONDS: u64 = 607;

mod dump_example {
    use super::*;

    #[test]
    fn records_of_the_specification() {
        let trace = read(include_bytes!("../data/dump/example-1.dump"));
        let query = &trace.queries[0];
        assert_eq!(query.end, Some(1796035992790984277));
        assert_eq!(query.who(), "app@web1");
        assert_eq!(query.elapsed, Some(162345));
        assert_eq!(query.text, "SELECT name\n  FROM customers");
        assert_eq!(trace.heading.zone, Some(3 * 3600 + 1200));
        assert_eq!(notes(&trace), "");
    }

    #[test]
    fn aggregation_of_the_specification() {
        let input = include_bytes!("../data/dump/example-2.dump");
        assert_eq!(folded(input), "mariadbd;mariadbd`handle_one_connection;libc.so.6`pthread_cond_wait 48230771\n");
        assert_eq!(notes(&read(input)), "no `# stop`: the dump was cut short (input:8)\n");
    }
    /// Two scripts in one trace: both begin before either prints, and each has its own passes and its own end.
    const TWO: &str = "# seatrace\t1\n# script\tquery-time\t1\n# strsize\t32\n# record\tquery\telapsed:ns\tquery:text\n\
                       # seatrace\t1\n# script\ton-cpu\t1\nquery\t7\tselect 1\\0\n\
                       # pass\t1\t5\tcumulative\n# aggregation\ton_cpu\tcount\tsamples\tname:text\na\\0\t3\n# end\ton_cpu\n\
                       query\t8\tselect '01234567890123456789012\\0\n# stop\t9\n\
                       # pass\t2\t6\tcumulative\n# aggregation\ton_cpu\tcount\tsamples\tname:text\na\\0\t5\n# end\ton_cpu\n\
                       # pass\t1\t6\tcumulative\n# aggregation\tof_another\tsum\tns\tname:text\nb\\0\t4\n# end\tof_another\n";

    #[test]
    fn scripts_share_a_dump() {
        let trace = read(format!("{TWO}# stop\t9\n"));
        assert_eq!(trace.heading.script.as_deref(), Some("query-time"));
        let times: Vec<_> = trace.queries.iter().map(|query| (query.elapsed, query.cut)).collect();
        assert_eq!(times, [(Some(7), false), (Some(8), true)]);
        // The last pass of each aggregation, although another script's pass came after it.
        let values: Vec<_> = trace.series.iter().map(|series| (series.name.as_deref(), series.total())).collect();
        assert_eq!(values, [(Some("on_cpu"), 5), (Some("of_another"), 4)]);
        assert!(!notes(&trace).contains("cut short"), "{}", notes(&trace));
    }

    #[test]
    fn one_of_two_scripts_without_its_end() {
        assert!(notes(&read(TWO)).contains("no `# stop`: the dump was cut short (input:21)"), "{}", notes(&read(TWO)));
    }
}

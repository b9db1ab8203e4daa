//! Laws that hold for every input: reading back what was printed, merging, weight, and no panic wherever an input is cut.

use std::collections::BTreeMap;

use proptest::prelude::*;
use seatrace::format;
use seatrace::input::Input;
use seatrace::model::{Filter, Passes, Trace};
use seatrace::symbol::Cleaner;

use crate::support::{Reading, read, show, stack_total};

/// What a `%S` prints of a text, its end mark included. Written from docs/dump-format.md.
fn escaped(text: &[u8]) -> String {
    let mut out = String::new();
    for &byte in text {
        match byte {
            7 => out.push_str("\\a"),
            8 => out.push_str("\\b"),
            9 => out.push_str("\\t"),
            10 => out.push_str("\\n"),
            11 => out.push_str("\\v"),
            12 => out.push_str("\\f"),
            13 => out.push_str("\\r"),
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0x20..0x7f => out.push(char::from(byte)),
            _ => out.push_str(&format!("\\{byte:03o}")),
        }
    }
    out + "\\0"
}

/// A query as the generator makes it.
#[derive(Clone, Debug)]
struct Made {
    end: i64,
    connection: Option<u32>,
    user: Option<String>,
    status: i16,
    elapsed: u64,
    text: String,
}

fn made() -> impl Strategy<Value = Made> {
    let text = "[^\u{0}]{0,40}";
    (0..i64::MAX, any::<Option<u32>>(), proptest::option::of(text), any::<i16>(), any::<u64>(), text).prop_map(
        |(end, connection, user, status, elapsed, text)| Made { end, connection, user, status, elapsed, text },
    )
}

fn dump_of(queries: &[Made]) -> String {
    let mut dump = String::from(
        "# seatrace\t1\n# script\tlaws\t1\n# record\tquery\tend:wall\tconnection:int\tuser:text\tstatus:int\telapsed:ns\tquery:text\n",
    );
    for made in queries {
        dump += &format!(
            "query\t{}\t{}\t{}\t{}\t{}\t{}\n",
            made.end,
            made.connection.map_or(String::new(), |id| id.to_string()),
            made.user.as_ref().map_or(String::new(), |user| escaped(user.as_bytes())),
            made.status,
            made.elapsed,
            escaped(made.text.as_bytes()),
        );
    }
    dump + "# stop\t1\n"
}

/// Rows of an aggregation: keys, frames innermost first, value.
type Rows = Vec<(String, Vec<String>, i64)>;

fn rows() -> impl Strategy<Value = Rows> {
    let frames = prop::collection::vec("[a-z]{1,8}`[a-z_]{1,8}", 1..6);
    prop::collection::vec(("[^\u{0}]{0,20}", frames, any::<i32>().prop_map(i64::from)), 0..20)
}

fn aggregation_of(rows: &Rows) -> String {
    let mut dump = String::from("# seatrace\t1\n# aggregation\twaits\tsum\tns\tquery:text\tstack:frames\n");
    for (key, frames, value) in rows {
        dump += &format!("{}\t\n{}\n{value}\n", escaped(key.as_bytes()), frames.join("\n"));
    }
    dump + "# end\twaits\n# stop\t1\n"
}

/// The rows of a trace as they went in: outermost frame first, equal ones added up.
fn read_rows(trace: &Trace) -> BTreeMap<(String, Vec<String>), i128> {
    let name = |&id: &seatrace::model::NameId| trace.names.get(id).to_owned();
    let mut all = BTreeMap::new();
    for row in trace.series.iter().flat_map(|series| series.rows()) {
        let keys: Vec<String> = row.keys.iter().map(name).collect();
        *all.entry((keys.concat(), row.stack.iter().map(name).collect())).or_insert(0) += row.value;
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn queries_of_a_dump_are_read_back(queries in prop::collection::vec(made(), 0..20)) {
        let trace = read_as("dump", &dump_of(&queries));
        prop_assert_eq!(trace.queries.len(), queries.len());
        for (query, made) in trace.queries.iter().zip(&queries) {
            prop_assert_eq!(query.end, Some(made.end));
            prop_assert_eq!(query.connection, made.connection.map(u64::from));
            prop_assert_eq!(query.user.as_deref(), made.user.as_deref());
            prop_assert_eq!(query.status, Some(i64::from(made.status)));
            prop_assert_eq!(query.elapsed, Some(made.elapsed));
            prop_assert_eq!(query.text.as_ref(), made.text.as_str());
        }
        prop_assert_eq!(trace.notes.losses().count(), 0);
    }

    #[test]
    fn rows_of_a_dump_are_read_back(rows in rows()) {
        let trace = read_as("dump", &aggregation_of(&rows));
        let mut expected = BTreeMap::new();
        for (key, frames, value) in &rows {
            let frames: Vec<String> = frames.iter().rev().cloned().collect();
            *expected.entry((key.clone(), frames)).or_insert(0) += i128::from(*value);
        }
        prop_assert_eq!(read_rows(&trace), expected);
    }

    #[test]
    fn folded_is_read_back(lines in prop::collection::vec(("[^\u{0}\n\r]{1,20}(;[^\u{0}\n\r;]{1,12}){0,4}", any::<u32>()), 1..20)) {
        let text: String = lines.iter().map(|(stack, weight)| format!("{stack} {weight}\n")).collect();
        let once = show(&read_as("folded", &text), "folded");
        let twice = show(&read_as("folded", &once), "folded");
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn merging_is_concatenation(first in rows(), second in rows()) {
        let (first, second) = (aggregation_of(&first), aggregation_of(&second));
        let mut merged = Trace::new(Cleaner::default(), Filter::default(), Passes::Auto);
        for part in [&first, &second] {
            let mut input = Input::from_read("input", Box::new(std::io::Cursor::new(part.clone().into_bytes()))).expect("memory can be read");
            format::read(&mut input, Some("dump"), &format::Options::default(), &mut merged).expect("the dump is read");
        }
        merged.finish();
        let joined = read_as("dump", &format!("{first}{second}"));
        prop_assert_eq!(read_rows(&merged), read_rows(&joined));
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), from in 0usize..4) {
        let from = ["dump", "dtrace", "folded", "query-time-table"][from];
        let _ = Reading { from: Some(from), ..Reading::default() }.try_of(&bytes);
    }

    #[test]
    fn no_lines_make_a_reader_panic(lines in prop::collection::vec(pieces(), 0..40)) {
        for from in ["dump", "dtrace", "folded", "query-time-table"] {
            let _ = Reading { from: Some(from), ..Reading::default() }.try_of(lines.concat().as_bytes());
        }
    }
}

/// Lines that mean something to a reader, in any order.
fn pieces() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "\n",
        "              db`leaf+0x1\n",
        "db`root\n",
        "0x12\n",
        "                5\n",
        "5\n",
        "  mysqld                                            \n",
        "  mysqld                                                           5\n",
        "  select 1\n",
        "           value  ------------- Distribution ------------- count    \n",
        "               1 |@@@                                      1        \n",
        "             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n",
        "         0: 49 4e 53 45 52 54 20 49 4e 54 4f 20 61 75 64 69  INSERT INTO audi\n",
        "CPU     ID                    FUNCTION:NAME\n",
        "  2  64091                         :tick-1s \n",
        "dtrace: 12 drops on CPU 0\n",
        "# seatrace\t1\n",
        "# record\tquery\telapsed:ns\tquery:text\n",
        "query\t1\tx\\0\n",
        "# aggregation\ta\tsum\tns\tk:text\ts:frames\n",
        "# aggregation\ta\tquantize\tns\n",
        "k\\0\t\n",
        "# end\ta\n",
        "# pass\t1\t5\tdelta\n",
        "# stop\t1\n",
        "a;b 5\n",
        "a;b 1.5\n",
        "text\n",
        "\u{e9}\n",
        "app@web              shop                 COMMIT                                   7        \n",
    ])
}

/// Reads a text of a known format.
fn read_as(from: &'static str, text: &str) -> Trace {
    Reading { from: Some(from), ..Reading::default() }.of(text.as_bytes())
}

/// Texts that dtrace(1) prints, folded stacks and dumps, cut at every byte: no panic, also if the format is found by content, and a stack of
/// dtrace(1) is there once its value is. `tests/tough/cuts.rs` counts what is left of a sample of every format.
#[test]
fn inputs_cut_at_every_byte() {
    let dtrace = "\n  mysqld                                            \n              db`leaf+0x1\n              db`root+0x2\n                5\n\n              db`leaf\n\n           value  ------------- Distribution ------------- count    \n             256 |                                         0        \n             512 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@           3        \n            1024 |                                         0        \n\n                3\n             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n         0: 49 4e 53 45 52 54 20 49 4e 54 4f 20 61 75 64 00  INSERT INTO audi\n               88\n";
    let table = "Who                  Database             Query                                    Time(ms) \nsbtest@10.0.0.7      sbtest               INSERT INTO audit_log (msg) VALUES ('line one\nline two') 15       \n";
    let folded = "main;a 5\nmain;b 2.5\n";
    let dumps = [include_str!("../data/dump/example-1.dump"), include_str!("../data/dump/example-2.dump")];
    let samples =
        [("dtrace", dtrace), ("query-time-table", table), ("folded", folded), ("dump", dumps[0]), ("dump", dumps[1])];
    for (from, text) in samples {
        for end in 0..=text.len() {
            let part = &text.as_bytes()[..end];
            let trace = Reading { from: Some(from), ..Reading::default() }.of(part);
            // Every format looks at the cut input too; that is slow, so at one place in eight.
            if end % 8 == 0 {
                let _ = Reading::default().try_of(part);
            }
            if from == "dtrace" {
                // Whole rows stand: the first ends at byte 120 or so, the second 400 bytes later.
                let first = text.find("5\n").expect("the first value") + 1;
                assert_eq!(stack_total(&trace) >= 5, end >= first, "cut at {end}");
            }
        }
    }
    assert!(read(dtrace).series.len() >= 3);
}

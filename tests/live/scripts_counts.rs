//! The smaller scripts on the fixture: key cache, network, kinds of execution, parser, connections. Counts and bytes are exactly those of its
//! own log, times lie near them.

use std::collections::BTreeMap;

use crate::dump::{rows, sum};
use crate::fixture::unescaped;
use crate::machine::Machine;
use crate::scripts_queries::{Run, Statement, Values, assert_near, by_text};

/// Bytes of an index block in the fixture.
const BLOCK: i64 = 1024;

/// Sums over all statements, those of routines by themselves, so that the CALL that holds them does not count.
fn each(run: &Run, key: impl Fn(&Statement) -> Vec<String>, value: impl Fn(&Statement) -> i64) -> Values {
    let mut sums = Values::new();
    for statement in run.statements.iter().filter(|statement| !statement.text().starts_with("CALL")) {
        *sums.entry(key(statement)).or_default() += value(statement);
    }
    sums.retain(|_, value| *value != 0);
    sums
}

/// EXECUTE runs a SELECT from `tiny`, and its log names no table.
fn table(statement: &Statement) -> Vec<String> {
    vec![if statement.text() == "EXECUTE s1" { "tiny".to_owned() } else { statement.word("table") }]
}

fn one(key: &str, value: i64) -> Values {
    BTreeMap::from([(vec![key.to_owned()], value)])
}

#[test]
fn key_cache_counts_blocks_by_file() {
    let Some(machine) = Machine::get() else { return };
    let run = Run::of(&machine, "key-cache", &[]);
    let (reads, hits) = (|it: &Statement| it.number("key_reads"), |it: &Statement| it.number("key_hits"));
    let writes = |it: &Statement| it.number("key_writes");
    assert_eq!(run.got("kc_reads", &[0]), each(&run, table, reads));
    assert_eq!(run.got("kc_bytes", &[0]), each(&run, table, |it| BLOCK * reads(it)));
    assert_eq!(run.got("kc_hits", &[0]), each(&run, table, hits));
    assert_eq!(run.got("kc_misses", &[0]), each(&run, table, |it| reads(it) - hits(it)));
    assert_eq!(run.got("kc_writes", &[0]), each(&run, table, writes));
    assert_eq!(run.got("kc_written", &[0]), each(&run, table, |it| BLOCK * writes(it)));
    let timed = rows(&run.dump, "kc_time");
    for (operation, expected) in [("read", each(&run, table, reads)), ("write", each(&run, table, writes))] {
        let expected: i64 = expected.values().sum();
        assert!(expected > 50, "{expected} are too few to tell");
        assert_eq!(sum(&timed, operation, ""), expected, "{operation}");
    }
}

#[test]
fn query_net_counts_packets_and_bytes() {
    let Some(machine) = Machine::get() else { return };
    let run = Run::of(&machine, "query-net", &[]);
    let event = |what: &str| -> (i64, i64) {
        let bytes: Vec<i64> = run.events.iter().filter(|it| it[0] == what).map(|it| it[8].parse().unwrap()).collect();
        (i64::try_from(bytes.len()).unwrap(), bytes.iter().sum())
    };
    // Every statement of a client is answered by one packet.
    let (answers, answered) =
        (run.expected(|_| vec![], |_| 1), run.expected(|_| vec![], |it| it.number("write_bytes")));
    let ((reads, read), (writes, written)) = (event("net_read"), event("net_write"));
    let (writes, written) = (writes + answers[&vec![]], written + answered[&vec![]]);
    let both = |read: i64, write: i64| one("read", read).into_iter().chain(one("write", write)).collect::<Values>();
    assert_eq!(run.got("nt_calls", &[0]), both(reads, writes));
    assert_eq!(run.got("nt_bytes", &[0]), both(read, written));
    let timed = rows(&run.dump, "nt_time");
    assert_eq!((sum(&timed, "read", ""), sum(&timed, "write", "")), (reads, writes));
    // What answers a prepared statement comes after its last probe.
    let of_direct =
        |column: &'static str| move |it: &Statement| if it.word("kind") == "direct" { it.number(column) } else { 0 };
    assert_eq!(run.got("nt_sent", &[0]), run.expected(by_text, of_direct("write_bytes")));
    assert_near(&run.got("nt_send_time", &[0]), &run.expected(by_text, of_direct("write_ns")), 0, "nt_send_time");
}

#[test]
fn query_exec_tells_kinds_of_execution() {
    let Some(machine) = Machine::get() else { return };
    let run = Run::of(&machine, "query-exec", &[]);
    let is_executed = |it: &Statement| it.number("status") != 1064 && it.number("cache_hits") == 0;
    let mut count = Values::new();
    for statement in run.statements.iter().filter(|it| is_executed(it)) {
        let mut add = |kind: &str| *count.entry(vec![kind.to_owned(), statement.word("database")]).or_default() += 1;
        add(&statement.word("kind"));
        // EXECUTE is executed, and executes.
        if statement.text() == "EXECUTE s1" {
            add("prepared");
        }
    }
    assert_eq!(run.got("qe_count", &[0, 1]), count);
    let failed = run.expected(
        |it| vec![it.word("kind"), it.word("database")],
        |it| i64::from(is_executed(it) && it.number("status") != 0),
    );
    assert_eq!(run.got("qe_failed", &[0, 1]), failed);
    let cache = |column: &str| run.expected(|_| vec![], |it| it.number(column))[&vec![]];
    let expected = one("hit", cache("cache_hits")).into_iter().chain(one("miss", cache("cache_misses"))).collect();
    assert_eq!(run.got("qe_cache", &[0]), expected);
    let timed = rows(&run.dump, "qe_time");
    for kind in ["direct", "prepared", "routine"] {
        let expected: i64 = count.iter().filter(|(key, _)| key[0] == kind).map(|(_, value)| value).sum();
        assert_eq!(sum(&timed, kind, ""), expected, "{kind}");
    }
}

#[test]
fn query_parse_counts_texts() {
    let Some(machine) = Machine::get() else { return };
    let run = Run::of(&machine, "query-parse", &[]);
    let is_parsed = |it: &Statement| it.word("kind") == "direct" && it.number("cache_hits") == 0;
    let count = run.expected(by_text, |it| i64::from(is_parsed(it)));
    assert_eq!(run.got("qpa_count", &[0]), count);
    let failed = run.expected(by_text, |it| i64::from(it.number("status") == 1064));
    assert!(!failed.is_empty(), "no text was wrong");
    assert_eq!(run.got("qpa_failed", &[0]), failed);
    assert_near(&run.got("qpa_total", &[0]), &run.expected(by_text, |it| it.number("parse_ns")), 0, "qpa_total");
    assert_eq!(sum(&rows(&run.dump, "qpa_time"), "", ""), count.values().sum::<i64>());
}

#[test]
fn connections_has_a_line_for_each() {
    let Some(machine) = Machine::get() else { return };
    let run = Run::of(&machine, "connections", &[]);
    let number = |text: &str| text.parse::<i64>().unwrap();
    let mut lines: BTreeMap<i64, Vec<&str>> = BTreeMap::new();
    for line in run.dump.lines().filter(|line| line.starts_with("connection\t")) {
        let fields: Vec<&str> = line.split('\t').collect();
        assert!(lines.insert(number(fields[2]), fields).is_none(), "twice: {line}");
    }
    let (mut started, mut ended) = (Values::new(), Values::new());
    for event in run.events.iter().filter(|event| event[0] == "connection") {
        let fields = lines.remove(&number(&event[4])).unwrap_or_else(|| panic!("no line for {event:?}"));
        let text = |at: usize| String::from_utf8_lossy(&unescaped(fields[at])).into_owned();
        assert_eq!((text(3), text(4), fields[5]), (event[5].clone(), event[6].clone(), "0"));
        let (elapsed, expected) = (number(fields[6]), number(&event[2]) - number(&event[1]));
        assert!((elapsed - expected).abs() <= (expected / 20).max(5_000_000), "{elapsed} for {expected}");
        *started.entry(vec![event[5].clone(), event[6].clone()]).or_default() += 1;
        *ended.entry(vec![event[5].clone()]).or_default() += 1;
    }
    assert!(lines.is_empty(), "of no connection: {lines:?}");
    assert_eq!(run.got("cn_started", &[0, 1]), started);
    let timed = rows(&run.dump, "cn_time");
    for (user, expected) in ended {
        let own = timed.iter().filter(|row| unescaped(&row.keys[0]) == user[0].as_bytes());
        assert_eq!(own.map(|row| row.value).sum::<i64>(), expected, "{user:?}");
    }
}

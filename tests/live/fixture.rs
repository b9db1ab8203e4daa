//! query-time on the fixture, which logs what it does: every statement inside the trace has its line, with the right time, status and text.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::machine::{Machine, ROOT, Running, finish, stderr, stdout, syslibdir};

/// Bytes of a text that query-time keeps: strsize - 1.
const KEPT: usize = 1023;

/// A statement, as the fixture or a dump tells of it. Times in ns since 1970.
#[derive(Clone, PartialEq)]
struct Statement {
    connection: u64,
    start: i64,
    end: i64,
    failed: bool,
    kind: String,
    text: Vec<u8>,
}

impl std::fmt::Debug for Statement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (ms, text) = (self.elapsed() / 1000, String::from_utf8_lossy(&self.text));
        write!(
            f,
            "[{} {} us to {} failed={} {} {}:{text}]",
            self.connection,
            ms,
            self.end,
            self.failed,
            self.kind,
            self.text.len()
        )
    }
}

impl Statement {
    fn elapsed(&self) -> i64 {
        self.end - self.start
    }
}

/// What the fixture says it did. Its columns have names; its escapes are \t \n \r \\.
fn truth(path: &Path) -> Vec<Statement> {
    let log = fs::read_to_string(path).unwrap();
    let mut lines = log.lines();
    let names: HashMap<&str, usize> =
        lines.next().unwrap().split('\t').enumerate().map(|(at, name)| (name, at)).collect();
    let mut statements = Vec::new();
    for line in lines.filter(|line| line.starts_with("query\t")) {
        let fields: Vec<&str> = line.split('\t').collect();
        let number = |name: &str| fields[names[name]].parse::<i64>().unwrap();
        let elapsed = number("end") - number("start");
        statements.push(Statement {
            connection: u64::try_from(number("connection")).unwrap(),
            start: number("real") - elapsed,
            end: number("real"),
            failed: number("status") != 0,
            kind: fields[names["kind"]].to_owned(),
            text: unescaped(fields[names["text"]]),
        });
    }
    statements
}

/// The records of a dump, read without our reader, and start and stop of the trace.
fn records(dump: &str) -> (Vec<Statement>, i64, i64) {
    let (mut found, mut start, mut stop) = (Vec::new(), 0, i64::MAX);
    for line in dump.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        match fields[0] {
            "# start" => start = fields[1].parse().unwrap(),
            "# stop" => stop = fields[1].parse().unwrap(),
            "query" => {
                let [_, end, connection, _, _, _, status, elapsed, kind, text] = fields[..] else { panic!("{line}") };
                let (end, elapsed): (i64, i64) = (end.parse().unwrap(), elapsed.parse().unwrap());
                found.push(Statement {
                    connection: connection.parse().unwrap(),
                    start: end - elapsed,
                    end,
                    failed: status != "0",
                    kind: kind.trim_end_matches("\\0").to_owned(),
                    text: unescaped(text),
                });
            }
            _ => {}
        }
    }
    (found, start, stop)
}

/// Undoes `\n`, `\"`, `\101` and the like; DTrace puts `\0` at the end.
pub fn unescaped(text: &str) -> Vec<u8> {
    let bytes = text.strip_suffix("\\0").unwrap_or(text).as_bytes();
    let (mut result, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let octal = bytes.get(at + 1..at + 4).filter(|digits| digits.iter().all(|digit| (b'0'..b'8').contains(digit)));
        match (bytes[at], bytes.get(at + 1), octal) {
            (b'\\', _, Some(digits)) => {
                result.push(digits.iter().fold(0u8, |sum, digit| sum.wrapping_mul(8).wrapping_add(digit - b'0')));
                at += 4;
            }
            (b'\\', Some(escaped), None) => {
                let plain =
                    b"abfnrtv".iter().position(|letter| letter == escaped).map(|at| b"\x07\x08\x0c\n\r\t\x0b"[at]);
                result.push(plain.unwrap_or(*escaped));
                at += 2;
            }
            (byte, ..) => {
                result.push(byte);
                at += 1;
            }
        }
    }
    result
}

/// Takes the record of a statement out of those of its connection.
fn take(records: &mut Vec<Statement>, wanted: &Statement) -> Option<Statement> {
    let text = &wanted.text[..wanted.text.len().min(KEPT)];
    let away = |record: &Statement| (record.end - wanted.end).abs();
    let same = |record: &Statement| away(record) < 200_000_000 && record.kind == wanted.kind && record.text == text;
    let (at, _) =
        records.iter().enumerate().filter(|(_, record)| same(record)).min_by_key(|(_, record)| away(record))?;
    Some(records.remove(at))
}

fn by_connection(statements: &[Statement]) -> HashMap<u64, Vec<Statement>> {
    let mut all: HashMap<u64, Vec<Statement>> = HashMap::new();
    statements.iter().for_each(|statement| all.entry(statement.connection).or_default().push(statement.clone()));
    all
}

/// Statements that lie inside the trace have a record each, and nothing else has one.
fn compare(truth: &[Statement], dump: &str) -> usize {
    /// Statements that begin or end so near to the edges of the trace may be seen or not: on Linux probes of other CPUs
    /// were seen to fire first some 80 ms after BEGIN.
    const EDGE: i64 = 200_000_000;
    let (records, start, stop) = records(dump);
    let mut left = by_connection(&records);
    let (mut inside, mut wrong, mut off) = (0, Vec::new(), Vec::new());
    for statement in truth {
        let own = left.entry(statement.connection).or_default();
        let is_inside = statement.start > start + EDGE && statement.end < stop - EDGE;
        match take(own, statement) {
            None if is_inside => {
                let at = (statement.start - start) / 1_000_000;
                wrong.push(format!("no line, begun after {at} ms: {statement:?}"));
            }
            None => {}
            Some(record) => {
                inside += usize::from(is_inside);
                let apart = (record.elapsed() - statement.elapsed()).abs();
                if apart > 5_000_000.max(statement.elapsed() / 20) {
                    off.push(format!("{record:?} for {statement:?}"));
                }
                if record.failed != statement.failed {
                    wrong.push(format!("{record:?} for {statement:?}"));
                }
            }
        }
    }
    let extra: Vec<&Statement> = left.values().flatten().collect();
    let show = |text: String| text.chars().take(300).collect::<String>();
    let first: Vec<String> = wrong.into_iter().take(5).map(show).collect();
    assert!(first.is_empty(), "{}", first.join("\n"));
    // A thread may lose the CPU between the probe and its own look at the clock: on a busy machine one in a hundred does.
    assert!(off.len() * 100 <= inside, "{} times of {inside} are off: {}", off.len(), off.join("\n"));
    assert!(extra.is_empty(), "{} lines of no statement: {}", extra.len(), show(format!("{extra:?}")));
    inside
}

#[test]
fn query_time_lists_exactly_the_statements_inside_the_trace() {
    let Some(machine) = Machine::get() else { return };
    let log = machine.path("truth");
    let fixture = machine.build("tests/fixture/fixture.c");
    let mut fixture = Running::start(Command::new(fixture).args(["-t", "4", "-s", "14", "-q", "-l"]).arg(&log));
    std::thread::sleep(Duration::from_millis(500));
    let pid = fixture.pid();
    let live = finish(&mut machine.seatrace(&[
        "run",
        "query-time",
        "-p",
        &pid,
        "-d",
        "5s",
        "--save",
        "a.dump",
        "-f",
        "log",
        "--utc",
    ]));
    assert!(live.status.success(), "{}", stderr(&live));
    assert_eq!(fixture.wait(Duration::from_secs(30)), Some(0));
    let dump = fs::read_to_string(machine.path("a.dump")).unwrap();
    assert!(!dump.contains("drops"), "drops on this machine");
    let inside = compare(&truth(&log), &dump);
    assert!(inside > 500, "only {inside} statements");
    let (records, ..) = records(&dump);
    for (least, most) in [(1, 60), (900, 1022), (KEPT, KEPT)] {
        assert!(records.iter().any(|record| (least..=most).contains(&record.text.len())), "no text of {least}..{most}");
    }
    // Replay gives the same bytes as the live trace gave, in every view that shows records.
    let replayed = finish(&mut machine.seatrace(&["replay", "a.dump", "-f", "log", "--utc"]));
    assert_eq!(stdout(&replayed), stdout(&live));
    // Only a live trace has probes to take out, and says so where that takes long.
    let said = stderr(&live);
    let notes = said.lines().filter(|line| !line.starts_with("seatrace: the results are complete;"));
    assert_eq!(stderr(&replayed).lines().collect::<Vec<_>>(), notes.collect::<Vec<_>>());
}

#[test]
fn three_ways_to_trace_agree() {
    let Some(machine) = Machine::get() else { return };
    let fixture = machine.build("tests/fixture/fixture.c");
    let fixture = Running::start(Command::new(fixture).args(["-t", "4", "-s", "25", "-q"]));
    std::thread::sleep(Duration::from_millis(500));
    let pid = fixture.pid();
    // Only one can hold a process on Linux: the other two name it in their probes.
    let text = fs::read_to_string(Path::new(ROOT).join("d-scripts/query-time.d")).unwrap().replace("$target", &pid);
    fs::write(machine.path("named.d"), text).unwrap();
    let mut command = machine.seatrace(&["run", "-s", "named.d", "-d", "7s", "--via", "dtrace", "--save", "b.dump"]);
    let mut by_command = Running::start(command.stdout(std::process::Stdio::null()));
    let plain = fs::File::create(machine.path("c.dump")).unwrap();
    let mut plain = Running::start(
        Command::new("dtrace").arg("-q").args(syslibdir()).arg("-s").arg(machine.path("named.d")).stdout(plain),
    );
    let mut command = machine.seatrace(&["run", "query-time", "-p", &pid, "-d", "7s", "--save", "a.dump", "-f", "log"]);
    let live = finish(&mut command);
    assert!(live.status.success(), "{}", stderr(&live));
    assert_eq!(by_command.wait(Duration::from_secs(60)), Some(0));
    plain.signal("INT");
    plain.wait(Duration::from_secs(60));
    let dumps: Vec<_> = ["a", "b", "c"]
        .map(|name| records(&fs::read_to_string(machine.path(&format!("{name}.dump"))).unwrap()))
        .into_iter()
        .collect();
    let start = dumps.iter().map(|(_, start, _)| *start).max().unwrap() + 100_000_000;
    let stop = dumps.iter().map(|(_, _, stop)| *stop).min().unwrap() - 100_000_000;
    let whole = |records: &[Statement]| -> Vec<Statement> {
        let mut kept: Vec<Statement> =
            records.iter().filter(|record| record.start > start && record.end < stop).cloned().collect();
        kept.sort_by_key(|record| (record.connection, record.end));
        kept
    };
    let first = whole(&dumps[0].0);
    assert!(first.len() > 200, "only {} statements", first.len());
    for (other, ..) in &dumps[1..] {
        let other = whole(other);
        let mut left = by_connection(&other);
        for statement in &first {
            let found = left.get_mut(&statement.connection).and_then(|records| take(records, statement));
            let is_at_edge = statement.start < start + 50_000_000 || statement.end > stop - 50_000_000;
            assert!(found.is_some() || is_at_edge, "not seen by the other: {statement:?}");
        }
        let difference = first.len().abs_diff(other.len());
        assert!(difference < 40, "{} and {} statements", first.len(), other.len());
    }
}

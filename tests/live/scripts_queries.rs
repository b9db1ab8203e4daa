//! The scripts about queries and locks, in both forms, on the fixture: it starts when the trace stands and rests when it is done, so that
//! counts and rows are exactly those of its own log, and times lie near them.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::fixture::unescaped;
use crate::machine::{Machine, Running, wait_for};

/// Bytes of a text that a key keeps: strsize - 1.
const KEPT: usize = 255;
/// How long a trace may take to begin or to end on a busy machine.
const LIMIT: Duration = Duration::from_secs(120);

/// Values by key: the texts and numbers before the value.
pub type Values = BTreeMap<Vec<String>, i64>;

/// A statement of the fixture's log, by the names of its columns.
pub struct Statement(HashMap<String, String>);

impl Statement {
    /// A column that holds a number.
    pub fn number(&self, name: &str) -> i64 {
        self.0[name].parse().unwrap_or(0)
    }

    /// A column as it stands.
    pub fn word(&self, name: &str) -> String {
        self.0[name].clone()
    }

    /// The text as a key keeps it.
    pub fn text(&self) -> String {
        let text = unescaped(&self.0["text"]);
        String::from_utf8_lossy(&text[..text.len().min(KEPT)]).into_owned()
    }

    /// It was run by a CALL.
    pub fn is_inside_a_routine(&self) -> bool {
        self.0["kind"] == "routine"
    }

    /// From arrival to end; what sends the answer to a prepared statement comes after its last probe.
    fn time(&self) -> i64 {
        let answer = if self.0["kind"] == "prepared" { self.number("write_ns") } else { 0 };
        self.number("end") - self.number("start") - answer
    }
}

/// What one exact run gave: the fixture's statements and the values of each aggregation.
pub struct Run {
    /// What the fixture says of its statements,
    pub statements: Vec<Statement>,
    /// and of the rest: connections, packets outside of statements.
    pub events: Vec<Vec<String>>,
    /// The dump.
    pub dump: String,
    values: HashMap<String, Values>,
}

impl Run {
    /// Traces the fixture with a script from before its first to after its last statement.
    pub fn of(machine: &Machine, script: &str, options: &[&str]) -> Run {
        let (log, said) = (machine.path("truth"), machine.path("said"));
        let program = machine.build("tests/fixture/fixture.c");
        let mut command = Command::new(program);
        command.args(["-g", "-t", "4", "-n", "150", "-s", "60", "-l"]).arg(&log);
        let fixture = Running::start(command.stdout(fs::File::create(&said).unwrap()));
        let pid = fixture.pid();
        let mut args = vec!["run", script, "-p", &pid, "--save", "a.dump", "-q"];
        args.extend(options);
        let mut trace = Running::start(machine.seatrace(&args).stdout(Stdio::null()));
        wait_for(&machine.path("a.dump.part"), "# start", LIMIT);
        std::thread::sleep(Duration::from_secs(1));
        fixture.signal("USR1");
        wait_for(&said, "statements", LIMIT);
        std::thread::sleep(Duration::from_secs(1));
        trace.signal("INT");
        assert_eq!(trace.wait(LIMIT), Some(0), "{script}");
        fixture.signal("TERM");
        let dump = fs::read_to_string(machine.path("a.dump")).unwrap();
        assert!(!dump.contains("drop"), "drops on this machine");
        Run { statements: statements(&log), events: events(&log), values: values(&dump), dump }
    }

    /// Sums over the statements that a client sent.
    pub fn expected(&self, key: impl Fn(&Statement) -> Vec<String>, value: impl Fn(&Statement) -> i64) -> Values {
        let mut sums = Values::new();
        for statement in self.statements.iter().filter(|statement| !statement.is_inside_a_routine()) {
            *sums.entry(key(statement)).or_default() += value(statement);
        }
        sums.retain(|_, value| *value != 0);
        sums
    }

    /// An aggregation over some of its keys, without those whose value is 0.
    pub fn got(&self, aggregation: &str, keys: &[usize]) -> Values {
        let mut sums = Values::new();
        for (key, value) in &self.values[aggregation] {
            *sums.entry(keys.iter().map(|at| key[*at].clone()).collect()).or_default() += value;
        }
        sums.retain(|_, value| *value != 0);
        sums
    }
}

fn statements(log: &Path) -> Vec<Statement> {
    let log = fs::read_to_string(log).unwrap();
    let names: Vec<&str> = log.lines().next().unwrap().split('\t').collect();
    let named =
        |line: &str| names.iter().map(|name| (*name).to_owned()).zip(line.split('\t').map(str::to_owned)).collect();
    log.lines().filter(|line| line.starts_with("query\t")).map(|line| Statement(named(line))).collect()
}

/// The lines of the log that are no statements, by columns: what, start, end, real time of the end, connection, user, host, nothing, value.
fn events(log: &Path) -> Vec<Vec<String>> {
    let log = fs::read_to_string(log).unwrap();
    let lines = log.lines().skip(1).filter(|line| !line.starts_with("query\t"));
    lines.map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

/// The rows of all aggregations but distributions, read without our reader.
fn values(dump: &str) -> HashMap<String, Values> {
    let (mut all, mut current) = (HashMap::<String, Values>::new(), None);
    for line in dump.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        match (fields[0], &current) {
            ("# aggregation", _) if fields[2] != "quantize" => current = Some(fields[1].to_owned()),
            ("# end", _) => current = None,
            (_, Some(name)) => {
                let (value, keys) = fields.split_last().unwrap();
                let keys = keys.iter().map(|key| String::from_utf8_lossy(&unescaped(key)).into_owned()).collect();
                all.entry(name.clone()).or_default().insert(keys, value.parse().unwrap());
            }
            _ => {}
        }
    }
    all
}

/// Each key within 5 % or 5 ms, and 0.1 ms for each of `count`, since the probes themselves take time.
pub fn assert_near(got: &Values, expected: &Values, count: i64, what: &str) {
    assert_eq!(got.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{what}");
    for (key, expected) in expected {
        let allowed = (expected / 20).max(5_000_000) + count * 100_000;
        let off = (got[key] - expected).abs();
        assert!(off <= allowed, "{what}: {key:?}: {} for {expected}", got[key]);
    }
}

/// Keyed by its text.
pub fn by_text(statement: &Statement) -> Vec<String> {
    vec![statement.text()]
}

#[test]
fn query_latency_counts_and_adds_up() {
    let Some(machine) = Machine::get() else { return };
    for (script, by, aspect) in [
        ("query-latency", "user", "user"),
        ("query-latency", "database", "database"),
        ("query-latency", "query", "text"),
        ("query-latency-pid", "query", "text"),
    ] {
        let run = Run::of(&machine, script, &["--by", by]);
        let key = |statement: &Statement| {
            if aspect == "text" { by_text(statement) } else { vec![statement.word(aspect)] }
        };
        let count = run.expected(key, |_| 1);
        assert_eq!(run.got("ql_count", &[0]), count, "{script} --by {by}");
        let most = count.values().max().copied().unwrap_or_default();
        assert_near(&run.got("ql_total", &[0]), &run.expected(key, Statement::time), most, script);
    }
}

#[test]
fn query_sort_knows_sorts_and_rows() {
    let Some(machine) = Machine::get() else { return };
    for (script, text) in [("query-sort", 2), ("query-sort-pid", 0)] {
        let run = Run::of(&machine, script, &[]);
        let sorts = |statement: &Statement| i64::from(statement.number("sort_rows") != 0);
        assert_eq!(run.got("qs_count", &[text]), run.expected(by_text, sorts), "{script}");
        let rows = run.expected(by_text, |statement| statement.number("sort_rows"));
        assert_eq!(run.got("qs_rows", &[text]), rows, "{script}");
        let time = run.expected(by_text, |statement| statement.number("sort_ns"));
        assert_near(&run.got("qs_total", &[text]), &time, 0, script);
    }
}

#[test]
fn lock_time_tells_kinds_apart() {
    let Some(machine) = Machine::get() else { return };
    for script in ["lock-time", "lock-time-pid"] {
        let run = Run::of(&machine, script, &[]);
        let kinds = [("metadata", "mdl"), ("table", "table_lock"), ("row", "row_lock")]
            .map(|(kind, column)| (kind.to_owned(), column));
        let (mut waits, mut time) = (Values::new(), Values::new());
        for (kind, column) in kinds {
            let key = |statement: &Statement| vec![kind.clone(), statement.text()];
            waits.extend(run.expected(key, |statement| statement.number(&format!("{column}_waits"))));
            time.extend(run.expected(key, |statement| statement.number(&format!("{column}_ns"))));
        }
        let without_handler = |mut values: Values| {
            values.retain(|key, _| key[0] != "handler");
            values
        };
        assert!(waits.len() > 3, "too few waits to tell: {waits:?}");
        assert_eq!(without_handler(run.got("lt_count", &[0, 3])), waits, "{script}");
        assert_near(&without_handler(run.got("lt_total", &[0, 3])), &time, 0, script);
        let handler = run.expected(|_| vec!["handler".to_owned()], |statement| statement.number("handler_locks"));
        let mut got = run.got("lt_count", &[0]);
        got.retain(|key, _| key[0] == "handler");
        assert_eq!(got, handler, "{script}");
        check_holders(&run, script);
    }
}

/// A holder that is named had the lock when the wait began, by the log; nearly all are named.
fn check_holders(run: &Run, script: &str) {
    let by_thread = run.dump.contains("thread:int");
    let connections = run.events.iter().filter(|event| event[0] == "connection");
    let threads: HashMap<&str, &str> = connections.map(|event| (event[4].as_str(), event[8].as_str())).collect();
    let shown = |connection: &str| (if by_thread { threads[connection] } else { connection }).to_owned();
    let number = |text: &str| text.parse::<i64>().unwrap();
    let records: Vec<Vec<&str>> = run
        .dump
        .lines()
        .filter(|line| line.starts_with("lock_wait\t"))
        .map(|line| line.split('\t').collect())
        .collect();
    let (mut named, mut waits) = (0, 0);
    for wait in run.events.iter().filter(|event| event[0] == "wait") {
        let away = |record: &&Vec<&str>| (number(record[1]) - number(&wait[3])).abs();
        let own = records.iter().filter(|record| record[3] == wait[5] && record[2] == shown(&wait[4]));
        let record = own.min_by_key(away).unwrap_or_else(|| panic!("{script}: no line for {wait:?}"));
        let holders: Vec<String> = wait[6].split(',').map(shown).collect();
        assert!(record[7] == "0" || holders.iter().any(|it| it == record[7]), "{script}: {record:?}, not {holders:?}");
        named += usize::from(record[7] != "0");
        waits += 1;
    }
    eprintln!("{script}: {named} of {waits} holders named, none wrong");
    assert!(named * 10 >= waits * 8, "{script}: only {named} of {waits} holders");
}

#[test]
fn query_phases_add_up_to_the_time_of_statements() {
    let Some(machine) = Machine::get() else { return };
    for (script, text) in [("query-phases", 1), ("query-phases-pid", 0)] {
        let run = Run::of(&machine, script, &[]);
        let count = run.expected(by_text, |_| 1).values().max().copied().unwrap_or_default();
        assert_near(&run.got("qp_phase", &[text]), &run.expected(by_text, Statement::time), 2 * count, script);
        let mut phases = Values::new();
        for (path, value) in run.got("qp_phase", &[text + 1]) {
            let last = path[0].rsplit(';').next().unwrap_or_default().to_owned();
            *phases.entry(vec![last]).or_default() += value;
        }
        for (phase, column) in [
            ("parse", "parse_ns"),
            ("filesort", "sort_ns"),
            ("metadata lock", "mdl_ns"),
            ("table lock", "table_lock_ns"),
            ("row lock", "row_lock_ns"),
        ] {
            let expected = run.expected(|_| vec![phase.to_owned()], |statement| statement.number(column));
            let mut got = phases.clone();
            got.retain(|key, _| key[0] == phase);
            assert_near(&got, &expected, 100, &format!("{script}: {phase}"));
        }
    }
}

#[test]
fn statement_time_counts_commands_and_rows() {
    let Some(machine) = Machine::get() else { return };
    let run = Run::of(&machine, "statement-time", &[]);
    let (mut count, mut matched, mut changed) = (Values::new(), Values::new(), Values::new());
    // Statements of routines count by themselves; what a cache answers is not executed; EXECUTE executes a SELECT.
    for statement in run.statements.iter().filter(|statement| statement.number("cache_hits") == 0) {
        let command =
            if statement.word("text") == "EXECUTE s1" { "select".to_owned() } else { statement.word("command") };
        let is_counted = command != "other";
        let (has_matched, has_changed) =
            (matches!(command.as_str(), "select" | "update" | "multi-update"), command != "select");
        let key = vec![command];
        *count.entry(key.clone()).or_default() += i64::from(is_counted);
        *matched.entry(key.clone()).or_default() += if has_matched { statement.number("matched") } else { 0 };
        *changed.entry(key).or_default() += if is_counted && has_changed { statement.number("changed") } else { 0 };
    }
    for (aggregation, mut expected) in [("st_count", count), ("st_matched", matched), ("st_changed", changed)] {
        expected.retain(|_, value| *value != 0);
        assert_eq!(run.got(aggregation, &[0]), expected, "{aggregation}");
    }
    let run = Run::of(&machine, "statement-time-pid", &[]);
    // The first word; a text that does not parse and an answer from the cache are not executed.
    let first_word = |statement: &Statement| {
        let text = statement.text() + " -";
        vec![text.split([' ', '\t', '\n', '(', ';']).find(|word| !word.is_empty()).unwrap_or_default().to_owned()]
    };
    let executed =
        |statement: &Statement| i64::from(statement.number("status") != 1064 && statement.number("cache_hits") == 0);
    assert_eq!(run.got("st_count", &[0]), run.expected(first_word, executed), "statement-time-pid");
}

#[test]
fn query_rows_counts_rows_by_statement() {
    let Some(machine) = Machine::get() else { return };
    let run = Run::of(&machine, "query-rows", &[]);
    let mut rows = Values::new();
    for (operation, column) in [
        ("insert", "inserted"),
        ("update", "updated"),
        ("delete", "deleted"),
        ("read", "read"),
        ("index-read", "index_read"),
    ] {
        let key = |statement: &Statement| vec![operation.to_owned(), statement.text()];
        rows.extend(run.expected(key, |statement| statement.number(column)));
    }
    assert_eq!(run.got("qr_rows", &[0, 3]), rows);
}

//! Locks of every kind and a sort, made on purpose on a stock server under load: the scripts tell each apart, with its holder, for
//! statements sent as text and for prepared ones.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::dump::{rows, sum};
use crate::machine::{Machine, ROOT, Running, stdout, wait_for, wait_for_probes};
use crate::stock::{Server, queries};

const MS: i64 = 1_000_000;
const TABLES: &str = "create database sbtest; create database shop; use shop; \
                      create table stock (id int primary key, amount int); insert into stock select seq, 100 from seq_1_to_10; \
                      create table accounts (id int primary key, balance int); insert into accounts select seq, 9 from seq_1_to_10; \
                      create table visits (id int primary key, page varchar(40)) engine=myisam; \
                      insert into visits select seq, 'page' from seq_1_to_100; \
                      create table orders (id int primary key, note varchar(80)); \
                      insert into orders select seq, md5(seq) from seq_1_to_30000";

/// Who holds a lock: its statements; who waits for it; what `lock-time` calls it; the table or name; the holder's statement; the wait at least.
const LOCKS: [(&str, &str, &str, &str, &str, i64); 4] = [
    (
        "lock tables shop.stock write; select sleep(3); unlock tables",
        "update shop.stock set amount = amount - 1 where id = 1",
        "metadata",
        "stock",
        "lock tables shop.stock write",
        900,
    ),
    (
        "select sleep(0.027) from shop.visits",
        "update shop.visits set page = 'x' where id = 1",
        "table",
        "visits",
        "select sleep(0.027) from shop.visits",
        900,
    ),
    (
        "begin; update shop.accounts set balance = 1 where id = 7; select sleep(3); commit",
        "update shop.accounts set balance = 2 where id = 7",
        "row",
        "accounts",
        "update shop.accounts set balance = 1 where id = 7",
        900,
    ),
    (
        "select get_lock('batch', 5); select sleep(3); select release_lock('batch')",
        "select get_lock('batch', 6)",
        "user",
        "batch",
        "select get_lock('batch', 5)",
        900,
    ),
];
const SORT: &str = "select id, note from shop.orders order by note desc limit 20";

fn sysbench(server: &Server, words: &[&str]) -> Command {
    let mut command = Command::new("sysbench");
    command.args(words).args(["--mysql-user=root", "--db-driver=mysql"]);
    command.arg(format!("--mysql-socket={}", server.socket().display())).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Runs a statement as a client does that prepares, or as one that does not.
fn execute(server: &Server, statement: &str, prepared: bool) {
    if !prepared {
        server.client(statement);
        return;
    }
    let script = Path::new(ROOT).join("tests/live/prepared.lua");
    let statement = format!("--statement={statement}");
    let words =
        [script.to_str().unwrap(), "--threads=1", "--events=1", "--time=0", "--mysql-db=shop", &statement, "run"];
    assert!(sysbench(server, &words).status().unwrap().success(), "{statement}");
}

/// Waits until all four hold their locks: then they sleep.
fn wait_for_holders(server: &Server) {
    let begin = Instant::now();
    let asleep = "select count(*) from information_schema.processlist where state = 'User sleep'";
    while stdout(&server.client(asleep)).lines().last() != Some("4") {
        assert!(begin.elapsed() < Duration::from_secs(3), "the locks are not held");
    }
}

/// The dump of a script, during which every lock is held and waited for, and the sort is done three times.
fn dump(machine: &Machine, server: &Server, script: &str, more: &[&str], prepared: bool) -> String {
    let pid = server.running.pid();
    let mut args = vec!["run", script, "-p", &pid, "--save", "saved", "-f", "json", "-q"];
    args.extend(more);
    let _ = fs::remove_file(machine.path("saved"));
    let mut trace = Running::start(machine.seatrace(&args).stdout(Stdio::null()));
    wait_for(&machine.path("saved.part"), "# target", Duration::from_secs(60));
    wait_for_probes(&trace.pid());
    std::thread::scope(|scope| {
        LOCKS.iter().for_each(|lock| _ = scope.spawn(|| server.client(lock.0)));
        wait_for_holders(server);
        LOCKS.iter().for_each(|lock| _ = scope.spawn(|| execute(server, lock.1, prepared)));
        (0..3).for_each(|_| execute(server, SORT, prepared));
    });
    std::thread::sleep(Duration::from_millis(500));
    trace.signal("INT");
    assert_eq!(trace.wait(Duration::from_secs(200)), Some(0));
    fs::read_to_string(machine.path("saved")).unwrap()
}

/// A server under load, and the load.
fn loaded() -> Option<(Server, Running)> {
    if Command::new("sysbench").arg("--version").output().is_err() {
        eprintln!("skipped: no sysbench on this machine");
        return None;
    }
    let server = Server::start()?;
    server.client(TABLES);
    let bench = ["oltp_read_write", "--tables=1", "--table-size=1000"];
    assert!(sysbench(&server, &[&bench[..], &["prepare"]].concat()).status().unwrap().success());
    let load = [&bench[..], &["--threads=2", "--rate=5", "--time=600", "run"]].concat();
    let load = Running::start(&mut sysbench(&server, &load));
    Some((server, load))
}

/// Each lock has a line with its kind, table, holder and time. A wait may be told in parts: MariaDB wakes up now and then to look.
fn check_locks(dump: &str) {
    let records: Vec<Vec<&str>> =
        dump.lines().filter(|line| line.starts_with("lock_wait\t")).map(|line| line.split('\t').collect()).collect();
    let text = |field: &str| field.trim_end_matches("\\0").to_owned();
    for (_, waiter, kind, table, holder, least) in LOCKS {
        let own: Vec<_> = records.iter().filter(|fields| text(fields[9]) == waiter && fields[3] == kind).collect();
        assert!(!own.is_empty(), "{waiter}: no wait of kind {kind} in {records:?}");
        let waited: i64 = own.iter().map(|fields| fields[6].parse::<i64>().unwrap()).sum();
        assert!((least * MS..4000 * MS).contains(&waited), "{waiter}: {waited} ns");
        for fields in own {
            assert!(text(fields[4]) == table || text(fields[5]) == table, "{waiter}: {fields:?}");
            assert_eq!(text(fields[8]), holder, "{waiter}: held by {}", fields[7]);
        }
    }
}

#[test]
fn lock_time_tells_locks_apart_and_names_the_holder() {
    let Some(machine) = Machine::get() else { return };
    let Some((server, _load)) = loaded() else { return };
    for prepared in [false, true] {
        check_locks(&dump(&machine, &server, "lock-time", &[], prepared));
    }
}

#[test]
fn phases_and_sorts_show_what_was_planted() {
    let Some(machine) = Machine::get() else { return };
    let Some((server, _load)) = loaded() else { return };
    for prepared in [false, true] {
        let phases = rows(&dump(&machine, &server, "query-phases", &[], prepared), "qp_phase");
        let spent = |query: &str, phase: &str| {
            let own = phases.iter().filter(|row| row.keys[0] == query && row.keys[1].ends_with(phase));
            own.map(|row| row.value).sum::<i64>()
        };
        for (_, waiter, kind, _, _, least) in LOCKS {
            let phase = if kind == "user" { "metadata lock".to_owned() } else { format!("{kind} lock") };
            let waited = spent(waiter, &phase);
            assert!((least * MS..4000 * MS).contains(&waited), "{waiter}: {waited} ns in {phase}");
        }
        assert!(spent(SORT, "filesort") > MS, "{phases:?}");
    }
    let sorts = dump(&machine, &server, "query-sort", &[], true);
    assert_eq!(sum(&rows(&sorts, "qs_count"), SORT, ""), 3);
    assert_eq!(sum(&rows(&sorts, "qs_rows"), SORT, ""), 3 * 30_000, "rows that were looked at");
}

/// Who waits for a lock is among the slow statements, and in its system calls it waits in futex; COMMIT writes the redo log.
#[test]
fn latency_and_blocked_calls_show_who_waited() {
    let Some(machine) = Machine::get() else { return };
    let Some((server, _load)) = loaded() else { return };
    for prepared in [false, true] {
        let times = dump(&machine, &server, "query-latency", &["--by", "query"], prepared);
        let calls = rows(&dump(&machine, &server, "query-blocked-calls", &[], prepared), "query_blocked_calls");
        let in_call = |query: &str, call: &str| {
            let own = calls.iter().filter(|row| row.keys[0] == query && row.keys[1] == call);
            own.map(|row| row.value).sum::<i64>()
        };
        for (_, waiter, _, _, _, least) in LOCKS {
            assert_eq!(sum(&rows(&times, "ql_count"), waiter, ""), 1, "{waiter}");
            for waited in [sum(&rows(&times, "ql_total"), waiter, ""), in_call(waiter, "futex")] {
                assert!((least * MS..4000 * MS).contains(&waited), "{waiter}: {waited} ns");
            }
        }
        assert_eq!(sum(&rows(&times, "ql_count"), SORT, ""), 3);
        assert!(in_call("COMMIT", "fdatasync") > 0, "{calls:?}");
    }
}

/// Without statements: the redo log is synced, and the server waits for its clients where it reads their packets.
#[test]
fn blocked_calls_show_disk_and_clients() {
    let Some(machine) = Machine::get() else { return };
    let Some((server, _load)) = loaded() else { return };
    let started = Instant::now();
    let calls = rows(&dump(&machine, &server, "blocked-calls", &[], false), "blocked_calls");
    let length = i64::try_from(started.elapsed().as_nanos()).unwrap();
    assert!(sum(&calls, "fdatasync", "") > 0, "{calls:?}");
    let clients: Vec<_> = calls.iter().filter(|row| row.keys[0] == "poll").collect();
    let read = clients.iter().filter(|row| row.frames.iter().any(|frame| frame == "vio_socket_io_wait"));
    let read = read.map(|row| row.value).sum::<i64>();
    // The load's two connections sleep most of the time.
    assert!(read > 1000 * MS && read < 20 * length, "{read} of {length}");
    assert!(sum(&calls, "futex", "") > 4 * 900 * MS, "{calls:?}");
}

/// The waiters are the slow statements; they wait for conditions below the server's functions for locks; the redo log is synced.
#[test]
fn statements_waits_and_files_show_the_cause() {
    let Some(machine) = Machine::get() else { return };
    let Some((server, _load)) = loaded() else { return };
    for prepared in [false, true] {
        let slow = queries(&dump(&machine, &server, "query-time", &["--min", "900ms"], prepared));
        for (_, waiter, ..) in LOCKS {
            assert_eq!(slow.iter().filter(|(.., text)| text == waiter).count(), 1, "{waiter}: {slow:?}");
        }
        let waits = rows(&dump(&machine, &server, "lock-waits", &[], prepared), "lock_waits");
        let below = |function: &str| {
            let own =
                waits.iter().filter(|row| row.keys[1] == "condition" && row.frames.iter().any(|it| it == function));
            own.map(|row| row.value).sum::<i64>()
        };
        // LOCK TABLES and GET_LOCK; and the table of MyISAM.
        let (metadata, table) = (below("_ZN11MDL_context12acquire_lockEP11MDL_requestd"), below("thr_multi_lock"));
        assert!(metadata > 2 * 900 * MS && table > 900 * MS, "{metadata} and {table} ns in {waits:?}");
        let files = rows(&dump(&machine, &server, "file-latency", &[], prepared), "fl_time");
        let log = files.iter().filter(|row| row.keys[0] == "fdatasync" && row.keys[1].ends_with("/ib_logfile0"));
        assert!(log.map(|row| row.value).sum::<i64>() > 0, "{files:?}");
    }
}

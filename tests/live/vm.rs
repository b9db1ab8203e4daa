//! What the traces in the virtual machine found, against what the programs did: tests/machine/vm-tests boots it, and runs this.
//! Times may be 15 % off: the processor is emulated.

use std::path::PathBuf;

use crate::dump::{Row, heading, near, rows, sum, truth};

const MS: i64 = 1_000_000;

/// What a trace left, or None where there was no boot.
fn left(name: &str) -> Option<String> {
    let Ok(folder) = std::env::var("SEATRACE_VM") else {
        eprintln!("skipped: tests/machine/vm-tests boots the virtual machine for this");
        return None;
    };
    let folder = PathBuf::from(folder);
    let read = |end: &str| std::fs::read_to_string(folder.join(format!("{name}.{end}"))).unwrap_or_default();
    let dump = read("out");
    assert!(dump.contains("# stop\t"), "{name}: no complete dump; it said: {}", read("err"));
    Some(dump + &read("truth"))
}

/// Nanoseconds between `# start` and `# stop`.
fn length(dump: &str) -> i64 {
    heading(dump, "stop") - heading(dump, "start")
}

#[test]
fn off_cpu_finds_each_wait() {
    let Some(dump) = left("off-cpu") else { return };
    let rows = rows(&dump, "off_cpu");
    let waited = |name: &str| {
        let truth = truth(&dump).into_iter().find(|fields| fields[0] == name).unwrap();
        truth[1].parse::<i64>().unwrap()
    };
    for name in ["timer", "holder", "pipe"] {
        let function = if name == "holder" { "hold_lock".to_owned() } else { format!("wait_{name}") };
        near(name, sum(&rows, &format!("t-{name}"), &function), waited(name), 0.15, 0);
    }
    near("waiter", sum(&rows, "t-waiter", "wait_lock"), waited("waiter"), 0.15, 0);
    // The thread stays a little longer than it says.
    near("queue", sum(&rows, "t-queue", "wait_queue"), waited("queue"), 0.15, 1500 * MS);
    assert!(dump.contains("waits were still in progress at the end"), "{dump}");
}

#[test]
fn off_cpu_leaves_out_short_waits() {
    let Some(dump) = left("off-cpu-min") else { return };
    let rows = rows(&dump, "off_cpu");
    // The timer sleeps 50 ms, the holder 40 and 10.
    near("t-timer", sum(&rows, "t-timer", "th_timer"), length(&dump), 0.15, 0);
    // Not the sleeps of 10 and 15 ms.
    assert!(sum(&rows, "t-holder", "th_holder") - sum(&rows, "t-holder", "hold_lock") < length(&dump) / 10, "{dump}");
}

#[test]
fn off_cpu_prints_passes() {
    let Some(dump) = left("off-cpu-passes") else { return };
    let passes: Vec<&str> = dump.split("# pass\t").skip(1).collect();
    assert!(passes.len() >= 4, "{dump}");
    let sums: Vec<i64> = passes.iter().map(|pass| sum(&rows(pass, "off_cpu"), "t-timer", "")).collect();
    assert!(sums.is_sorted() && sums[0] > 0, "cumulative: {sums:?}");
    near("last pass", *sums.last().unwrap(), length(&dump), 0.15, 0);
    // The last is printed at the end, whenever that is.
    let times: Vec<i64> =
        passes[..passes.len() - 1].iter().map(|pass| pass.split('\t').nth(1).unwrap().parse().unwrap()).collect();
    // An emulated processor may miss one: whole seconds then, and most of them one.
    let between: Vec<i64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    between.iter().for_each(|&gap| near("interval", gap, (gap + 500 * MS) / (1000 * MS) * 1000 * MS, 0.0, 150 * MS));
    assert!(between.iter().filter(|&&gap| gap < 1150 * MS).count() * 2 >= between.len(), "{between:?}");
}

#[test]
fn wakeups_name_who_gives_up_the_lock() {
    let Some(dump) = left("wakeups") else { return };
    let rows = rows(&dump, "wk_stacks");
    // The holder lets the lock go each 50 ms, and the feeder wakes two threads each 100 ms.
    near("t-holder", sum(&rows, "t-holder", "th_holder"), length(&dump) / (51 * MS), 0.25, 5);
    near("t-feeder", sum(&rows, "t-feeder", ""), 2 * length(&dump) / (101 * MS), 0.6, 5);
}

#[test]
fn query_off_cpu_agrees_with_the_program() {
    let Some(dump) = left("query-off-cpu") else { return };
    let rows = rows(&dump, "query_off_cpu");
    let texts = ["SELECT compute()", "SELECT wait()", "INSERT both()\\n  VALUES ('x')", "SELECT prepared()"];
    for (text, truth) in texts.iter().zip(truth(&dump)) {
        near(text, sum(&rows, text, ""), truth[3].parse().unwrap(), 0.15, 0);
    }
    assert!(sum(&rows, texts[1], "run_wait") * 10 >= sum(&rows, texts[1], "") * 9, "{dump}");
}

/// filework.c writes and syncs 40 blocks of 8 kB; each sync is a flush besides.
#[test]
fn disk_scripts_see_each_write() {
    let Some(dump) = left("io-snoop") else { return };
    let of = |size: &str| {
        let fits = |line: &&str| {
            let fields: Vec<&str> = line.split('\t').collect();
            fields[0] == "io" && fields[2] == "filework\\0" && fields[5] == "write" && fields[7] == size
        };
        dump.lines().filter(fits).count()
    };
    assert_eq!((of("8192"), of("0")), (40, 40), "{dump}");

    let Some(dump) = left("io-size") else { return };
    let bytes: i64 = mine(&rows(&dump, "is_bytes"));
    assert!(bytes >= 40 * 8192, "{dump}");
    assert!(mine(&rows(&dump, "io_size")) >= 80, "{dump}");

    let Some(dump) = left("io-latency") else { return };
    assert!(sum(&rows(&dump, "io_latency"), "write", "") >= 80, "{dump}");
}

fn mine(rows: &[Row]) -> i64 {
    sum(rows, "filework", "")
}

/// What was planted: the statement as text and prepared, the call in which it waited, a function that says for what, and the least time.
const PLANTED: [([&str; 2], &str, &str, i64); 5] = [
    (
        [
            "update shop.stock set amount = amount - 1 where id = 1",
            "update shop.stock set amount = amount - 2 where id = 2",
        ],
        "pthread_cond_timedwait",
        "MDL_wait10timed_wait",
        2000,
    ),
    (
        ["update shop.visits set page = 'x' where id = 1", "update shop.visits set page = 'y' where id = 2"],
        "pthread_cond_timedwait",
        "thr_multi_lock",
        2000,
    ),
    (
        ["update shop.accounts set amount = 2 where id = 7", "update shop.accounts set amount = 3 where id = 7"],
        "pthread_cond_timedwait",
        "handler17ha_index_read_map",
        2000,
    ),
    (
        ["select get_lock('shop.batch', 80)", "select get_lock('shop.batch', 70)"],
        "pthread_cond_timedwait",
        "Item_func_get_lock",
        2000,
    ),
    (
        ["select id, note from shop.orders order by note desc", "select note, id from shop.orders order by note desc"],
        "other",
        "filesort",
        1,
    ),
];

/// A stock server, so the pid form: each wait is with its statement, in its call, at its function.
#[test]
fn query_off_cpu_tells_planted_waits_apart() {
    let Some(dump) = left("planted") else { return };
    let rows = rows(&dump, "query_off_cpu");
    let sum_of = |text: &str, fits: &dyn Fn(&Row) -> bool| -> i64 {
        rows.iter().filter(|row| row.keys[0] == text && fits(row)).map(|row| row.value).sum()
    };
    for (texts, call, function, least) in PLANTED {
        for text in texts {
            let fits = |row: &Row| row.keys[1] == call && row.frames.iter().any(|frame| frame.contains(function));
            let waited = sum_of(text, &fits);
            assert!(waited >= least * MS, "{text}: {waited} ns in {call} at {function}: {dump}");
        }
    }
    // A commit that writes the log itself, not one for which another thread does.
    for way in ["mysql_parse", "Prepared_statement"] {
        let is_in = |row: &Row, function: &str| row.frames.iter().any(|frame| frame.contains(function));
        let syncs = |row: &&Row| row.keys[1] == "fdatasync" && is_in(row, "ha_commit_trans") && is_in(row, way);
        assert!(rows.iter().any(|row| syncs(&row)), "no commit by {way} writes its log: {dump}");
    }
    // What the client measured is what the statement waited, but for its work, which is the smallest part.
    for fields in truth(&dump) {
        near(&fields[0], sum_of(&fields[0], &|_| true), fields[1].parse().unwrap(), 0.15, 300 * MS);
    }
}

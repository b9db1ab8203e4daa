//! The slow-log reader and the `slowlog` view: cases from practice, laws, and the tools of the trade beside them.

use seatrace::format;
use seatrace::model::QueryKind;

use crate::support::{MARIADB_LOG, notes, output, read, show};

#[test]
fn br_18_mariadb_headers() {
    let trace = read(
        "# Time: 220504  5:01:02\n\
         # User@Host: app[app] @ web1 [10.0.0.1]\n\
         # Thread_id: 7  Schema:   QC_hit: No\n\
         # Query_time: 0.500000  Lock_time: 0.000100  Rows_sent: 1  Rows_examined: 10\n\
         # Rows_affected: 0  Bytes_sent: 57\n\
         SET timestamp=1651640462;\n\
         select 1;\n",
    );
    let [query] = trace.queries.as_slice() else { panic!("{} records", trace.queries.len()) };
    // 2022-05-04 05:01:02 UTC, by `date -ud @1651640462`.
    assert_eq!(query.end, Some(1_651_640_462_000_000_000));
    assert_eq!(trace.heading.zone, Some(0));
    assert_eq!((query.user.as_deref(), query.host.as_deref()), (Some("app"), Some("web1")));
    assert_eq!((query.connection, query.database.as_deref()), (Some(7), None));
    assert_eq!((query.elapsed, query.lock_time), (Some(500_000_000), Some(100_000)));
    assert_eq!((query.rows_sent, query.rows_examined, query.rows_affected), (Some(1), Some(10), Some(0)));
    let attributes: Vec<(&str, &str)> = query.attributes.iter().map(|(name, value)| (&**name, &**value)).collect();
    assert_eq!(attributes, [("ip", "10.0.0.1"), ("QC_hit", "No"), ("Bytes_sent", "57")]);
    assert_eq!(query.text, "select 1");
    assert!(trace.notes.is_empty(), "{}", notes(&trace));
}

const BANNER: &str = "/opt/db/bin/mysqld, Version: 8.0.36 (Source distribution). started with:\n\
    Tcp port: 3306  Unix socket: s.sock\n\
    Time                 Id Command    Argument\n";

#[test]
fn br_19_a_banner_in_the_middle_ends_an_event() {
    for banner in [BANNER.to_owned(), BANNER.replace("started with:", "started with:, Time: 2023")] {
        let trace = read(format!(
            "# User@Host: app[app] @  [10.0.0.1]\n\
             # Query_time: 1.0  Lock_time: 0.0  Rows_sent: 1  Rows_examined: 1\n\
             SET timestamp=1700000000;\n\
             select a from t;\n\
             {banner}\
             # Time: 2023-11-14T22:14:00.000000Z\n\
             # User@Host: app[app] @  [10.0.0.1]  Id:     9\n\
             # Query_time: 2.0  Lock_time: 0.0  Rows_sent: 1  Rows_examined: 1\n\
             SET timestamp=1700000040;\n\
             select b from t;\n"
        ));
        let texts: Vec<&str> = trace.queries.iter().map(|query| &*query.text).collect();
        assert_eq!(texts, ["select a from t", "select b from t"]);
        assert_eq!(trace.queries[1].connection, Some(9));
        assert_eq!(trace.queries[1].host.as_deref(), Some("10.0.0.1"));
        assert_eq!(notes(&trace), "log: the server restarted or the log was flushed, 1 times\n");
    }
}

#[test]
fn br_22_administrator_commands_and_empty_statements() {
    let trace = read(
        "# User@Host: app[app] @  [10.0.0.1]\n\
         # Query_time: 0.0001  Lock_time: 0.0  Rows_sent: 0  Rows_examined: 0\n\
         SET timestamp=1700000000;\n\
         # administrator command: Quit;\n\
         # User@Host: app[app] @  [10.0.0.1]\n\
         # Query_time: 0.2  Lock_time: 0.0  Rows_sent: 0  Rows_examined: 0\n\
         SET timestamp=1700000001;\n",
    );
    let told: Vec<_> = trace.queries.iter().map(|query| (query.kind, &*query.text, query.elapsed)).collect();
    let admin = (QueryKind::Admin, "Quit", Some(100_000));
    assert_eq!(told, [admin, (QueryKind::Direct, "", Some(200_000_000))]);
    let digest = show("digest", &trace, &[]);
    assert!(digest.contains("0 kinds of SQL"), "{digest}");
    assert!(digest.contains("  administrator command: Quit\n"), "{digest}");
    assert!(digest.contains("  (no statement text)\n"), "{digest}");
    assert!(digest.contains(" 100.00     200.100          2 "), "{digest}");
}

#[test]
fn br_24_bytes_that_are_not_utf_8() {
    let trace = read(
        b"# User@Host: a[a] @ h []\n# Query_time: 1.0  Lock_time: 0.0  Rows_sent: 0  Rows_examined: 0\n\
          SET timestamp=1700000000;\ninsert into b values (x'', _binary'\xff\xfe''z');\n",
    );
    let json = show("digest-json", &trace, &[]);
    assert!(json.contains("\"fingerprint\":\"insert into b values(?+)\""), "{json}");
    assert_eq!(notes(&trace), "log: 1 statements hold bytes that are not UTF-8, shown as U+FFFD\n");
}

#[test]
fn br_59_percona_lines_without_their_sign() {
    let trace = read(
        "# Time: 231114 22:13:20\n\
         # User@Host: app[app] @ localhost []  Id:  12\n\
         # Schema: shop  Last_errno: 1317  Killed: 1\n\
         # Query_time: 1.5  Lock_time: 0.0  Rows_sent: 0  Rows_examined: 5  Rows_affected: 0\n\
         Tmp_tables: 1  Tmp_disk_tables: 0  Tmp_table_sizes: 100\n\
         # Log_slow_rate_type: query  Log_slow_rate_limit: 10\n\
         SET timestamp=1700000000;\n\
         Tmp: 1;\n",
    );
    let query = &trace.queries[0];
    let attribute = |wanted: &str| query.attributes.iter().find(|(name, _)| name == wanted).map(|(_, value)| &**value);
    assert_eq!((attribute("Tmp_tables"), attribute("Tmp_disk_tables")), (Some("1"), Some("0")));
    assert_eq!(attribute("Killed"), Some("1"));
    assert_eq!((query.status, query.database.as_deref(), &*query.text), (Some(1317), Some("shop"), "Tmp: 1"));
    assert_eq!(notes(&trace), "log: the server logged one of 10 (log_slow_rate_limit): true sums are larger\n");
}

#[test]
fn br_61_the_database_of_an_earlier_use() {
    let event = |middle: &str, text: &str| {
        format!(
            "# User@Host: a[a] @ h []\n# Query_time: 1.0  Lock_time: 0.0 Rows_sent: 0  Rows_examined: 0\n\
             {middle}SET timestamp=1700000000;\n{text};\n"
        )
    };
    let log = [event("uSe `shop`;\n", "a"), event("", "b"), BANNER.to_owned(), event("", "c")].concat();
    let trace = read(log);
    let told: Vec<_> =
        trace.queries.iter().map(|query| (&*query.text, query.database.as_deref(), query.database_inherited)).collect();
    assert_eq!(told, [("a", Some("shop"), false), ("b", Some("shop"), true), ("c", None, false)]);
}

#[test]
fn statements_may_look_like_anything() {
    let texts = [
        "select 1 -- a\n# Time: 231114 22:13:20\n# User@Host: not a header",
        "# a comment first\nselect 2",
        "set timestamp=1700000000",
        "use shop",
        "select '\n\n',\n3",
        "",
        "select 1;;",
        "select 'a;\n #b'",
    ];
    let log: String = texts
        .iter()
        .map(|text| {
            format!(
                "# User@Host: a[a] @ h []\n# Query_time: 1.0  Lock_time: 0.0  Rows_sent: 0  Rows_examined: 0\n\
                 SET timestamp=1700000000;\n{text};\n"
            )
        })
        .collect();
    let trace = read(&log);
    let found: Vec<&str> = trace.queries.iter().map(|query| &*query.text).collect();
    assert_eq!(found, texts);
    // Once printed, it is read and printed the same.
    let once = show("slowlog", &trace, &[]);
    assert_eq!(show("slowlog", &read(&once), &[]), once);
}

#[test]
fn the_last_event_may_be_unfinished() {
    let trace = read("# User@Host: a[a] @ h []\n# Query_time: 1.0\nSET timestamp=1;\nselect 1,\n");
    assert!(trace.queries[0].cut);
    assert_eq!(notes(&trace), "the log ends inside a statement (log:4)\n");
}

#[test]
fn times_with_fractions_and_zones() {
    let event = |time: &str| {
        format!(
            "# Time: {time}\n# User@Host: a[a] @ h []\n# Query_time: 0.5  Lock_time: 0.0  Rows_sent: 0  Rows_examined: 0\n\
             SET timestamp=1700000000;\nselect 1;\n"
        )
    };
    // 1700000000 is 2023-11-14 22:13:20 UTC, by date(1).
    for (time, zone, fraction) in [
        ("231114 22:13:20", Some(0), 0),
        ("231114 23:13:20.25", Some(3600), 250_000_000),
        ("231115  3:58:20", Some(20700), 0),
        ("2023-11-14T22:13:20.000001Z", None, 1_000),
        ("2023-11-14T21:13:20.500000-01:00", None, 500_000_000),
    ] {
        let trace = read(event(time));
        assert_eq!(trace.queries[0].end, Some(1_700_000_000_000_000_000 + fraction), "{time}");
        assert_eq!(trace.heading.zone, zone, "{time}");
    }
}

#[test]
fn the_log_of_a_server_is_found_by_content_and_counts_as_awk_counts() {
    let log = std::fs::read(MARIADB_LOG).unwrap();
    assert_eq!(format::by_content("log", &log).unwrap().name, "slow-log");
    let trace = read(&log);
    // awk '/^# Query_time: /{n++; s+=$3*1e6; r+=$9} END{print n, s, r}'
    let text = String::from_utf8_lossy(&log);
    let lines = text.lines().filter(|line| line.starts_with("# Query_time: "));
    let fields: Vec<Vec<&str>> = lines.map(|line| line.split_ascii_whitespace().collect()).collect();
    let microseconds = |text: &str| text.replace('.', "").parse::<u64>().unwrap();
    assert_eq!(trace.queries.len(), 516);
    assert_eq!(trace.queries.len(), fields.len());
    let time: u64 = trace.queries.iter().map(|query| query.elapsed.unwrap()).sum();
    assert_eq!(time, 1000 * fields.iter().map(|line| microseconds(line[2])).sum::<u64>());
    let rows: u64 = trace.queries.iter().map(|query| query.rows_examined.unwrap()).sum();
    assert_eq!(rows, fields.iter().map(|line| line[8].parse::<u64>().unwrap()).sum::<u64>());
}

/// What pt-query-digest says of a log: id, calls and seconds of each class.
fn profile(file: &str) -> Option<Vec<String>> {
    let text = output("pt-query-digest", &["--limit", "100%", "--report-format", "profile", file])?;
    Some(text.lines().filter(|line| line.contains(" 0x")).map(|line| line.replace('%', "").to_owned()).collect())
}

/// Calls of all classes that mariadb-dumpslow finds, and their seconds to two decimals each.
fn dumped(file: &str) -> Option<(u64, Vec<String>)> {
    let text = output("mariadb-dumpslow", &["-l", "-s", "t", file])?;
    let counts = text.lines().filter(|line| line.starts_with("Count: "));
    let mut lines: Vec<String> = counts.clone().map(str::to_owned).collect();
    lines.sort();
    let calls = counts.map(|line| line.split_ascii_whitespace().nth(1).unwrap().parse::<u64>().unwrap()).sum();
    Some((calls, lines))
}

#[test]
fn slowlog_is_read_the_same_by_pt_query_digest_and_mariadb_dumpslow() {
    let log = std::fs::read(MARIADB_LOG).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let ours = folder.path().join("ours.log");
    let ours = ours.to_str().unwrap();
    let mut trace = read(&log);
    std::fs::write(ours, show("slowlog", &trace, &[])).unwrap();
    if let (Some(theirs), Some(found)) = (profile(MARIADB_LOG), profile(ours)) {
        assert_eq!(found, theirs);
    }
    // mariadb-dumpslow takes lines that it does not know for text: without them, it has to find the same classes and sums.
    let known = ["# explain", "# Pages_", "# Tmp_tables", "# Warning", "#\n", "use `"];
    let kept: Vec<&[u8]> = log
        .split_inclusive(|&byte| byte == b'\n')
        .filter(|line| !known.iter().any(|start| line.starts_with(start.as_bytes())))
        .collect();
    let theirs = folder.path().join("theirs.log");
    // It knows the banner by the path at its start.
    std::fs::write(&theirs, [b"/usr/sbin/", kept.concat().as_slice()].concat()).unwrap();
    trace
        .queries
        .iter_mut()
        .for_each(|query| query.attributes.retain(|(name, _)| name != "explain" && name != "warning"));
    std::fs::write(ours, show("slowlog", &trace, &[])).unwrap();
    if let (Some(theirs), Some(found)) = (dumped(theirs.to_str().unwrap()), dumped(ours)) {
        assert_eq!(found.0, 516);
        assert_eq!(found, theirs);
    }
}

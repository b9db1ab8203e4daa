//! What filters keep, what nests, what stays hidden.

use seatrace::model::{Anonymizer, Filter, Moment, Query, Selection, Trace};

use crate::support::{filtered, notes, read, show};

fn log(events: &[(&str, &str, &str)]) -> String {
    let event = |(time, user, text): &(&str, &str, &str)| {
        format!(
            "# Time: 2023-11-14T22:13:{time}Z\n# User@Host: {user}  Id: 5\n\
             # Query_time: 1.0  Lock_time: 0.0 Rows_sent: 1  Rows_examined: 1\nSET timestamp=1700000000;\n{text};\n"
        )
    };
    events.iter().map(event).collect()
}

fn texts(trace: &Trace) -> Vec<&str> {
    trace.queries.iter().map(|query| &*query.text).collect()
}

#[test]
fn br_63_statements_inside_a_call_count_once() {
    let inner = "# Time: 2023-11-14T22:13:21.000500Z\n# User@Host: a[a] @ h []  Id: 5\n\
        # Query_time: 1.0  Lock_time: 0.0 Rows_sent: 1  Rows_examined: 1\nSET timestamp=1700000000;\nselect sleep(1);\n";
    let outer = "# Time: 2023-11-14T22:13:21.000600Z\n# User@Host: a[a] @ h []  Id: 5\n\
        # Query_time: 1.000200  Lock_time: 0.0 Rows_sent: 1  Rows_examined: 1\nSET timestamp=1700000000;\ncall p();\n";
    let trace = read([inner, outer].concat());
    let digest = show("digest", &trace, &[]);
    let said = "# 1 of them ran inside others, 1000.000 ms; without these (--top-level-only) 1000.200 ms\n";
    assert!(digest.contains(said), "{digest}");
    assert!(digest.contains("  rows sent 1, rows examined 1, without what ran inside 0.200 ms"), "{digest}");
    assert!(digest.contains("inside other statements 1,"), "{digest}");
    let selection = Selection { top_level_only: true, ..Selection::default() };
    let trace = filtered([inner, outer].concat(), Filter { queries: selection, ..Filter::default() });
    assert_eq!(texts(&trace), ["call p()"]);
    assert_eq!(notes(&trace), "1 query records left out by filters, together 1000.000 ms\n");
}

#[test]
fn each_filter_keeps_its_own() {
    let log = log(&[
        ("20.5", "app[app] @ web1 [10.0.0.1]", "use_a"),
        ("21.5", "root[root] @ localhost []", "select 1"),
        ("22.5", "app[app] @  [10.0.0.2]", "select 2"),
    ]);
    let keep = |queries: Selection| {
        let trace = filtered(&log, Filter { queries, ..Filter::default() });
        texts(&trace).join("|")
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(keep(Selection { user: some("app"), ..Selection::default() }), "use_a|select 2");
    assert_eq!(keep(Selection { host: some("10.0.0.1"), ..Selection::default() }), "use_a");
    assert_eq!(keep(Selection { host: some("localhost"), ..Selection::default() }), "select 1");
    assert_eq!(keep(Selection { database: some("x"), ..Selection::default() }), "");
    let id = seatrace::sql::id("select ?");
    assert_eq!(keep(Selection { digest: some(&id.to_lowercase()[..6]), ..Selection::default() }), "select 1|select 2");
    // 1700000000 is 22:13:20.
    let since = Some(Moment::Instant(1_700_000_001_500_000_000));
    assert_eq!(keep(Selection { since, ..Selection::default() }), "select 1|select 2");
    let until = Some(Moment::AfterStart(std::time::Duration::from_secs(1)));
    assert_eq!(keep(Selection { until, ..Selection::default() }), "use_a");
}

#[test]
fn anonymous_logs_tell_nobody_and_are_read_again() {
    let log = log(&[
        ("20.5", "alice[alice] @ web1 [10.0.0.1]", "select * from t where name = 'Zürich' and k in (4711, 4712)"),
        ("21.5", "alice[alice] @ web2 []", "insert into t values ('secret"),
    ]);
    let anonymize = Some(Anonymizer::with_key("k"));
    let trace = filtered(&log, Filter { anonymize, ..Filter::default() });
    let slow = show("slowlog", &trace, &[]);
    for secret in ["alice", "web", "10.0", "Zürich", "4711", "secret"] {
        assert!(!slow.contains(secret), "{secret} in {slow}");
    }
    let again = read(&slow);
    let users: Vec<&str> = again.queries.iter().filter_map(|query: &Query<'_>| query.user.as_deref()).collect();
    assert_eq!(users.len(), 2);
    assert_eq!(users[0], users[1]);
    assert_ne!(again.queries[0].host, again.queries[1].host);
    let ids = |trace: &Trace| -> Vec<String> {
        show("digest-json", trace, &[])
            .lines()
            .map(|line| line.split("\"id\":").nth(1).map_or("", |id| &id[..34]).into())
            .collect()
    };
    assert_eq!(ids(&again), ids(&read(&log)));
    // Another key, other names: without the key nobody can try them out.
    let other = filtered(&log, Filter { anonymize: Some(Anonymizer::random()), ..Filter::default() });
    assert_ne!(other.queries[0].user, trace.queries[0].user);
}

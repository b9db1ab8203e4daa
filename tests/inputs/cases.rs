//! Cases from practice; the numbers are those of the collection that the project keeps.

use seatrace::model::{Function, Picture};
use seatrace::units::Unit;

use super::{folded, notes, read, try_read};

#[test]
fn br_15_times_per_loop() {
    let trace = read(
        "-> Nested loop inner join  (cost=4.95 rows=9) (actual time=0.153..0.200 rows=9 loops=1)
    -> Table scan on a  (cost=0.55 rows=3) (actual time=0.050..0.060 rows=3 loops=1)
    -> Index lookup on b using k (a_id=a.id)  (cost=1.3 rows=3) (actual time=0.020..0.030 rows=3 loops=3)
",
    );
    let wanted = [
        "Nested loop inner join 50",
        "Nested loop inner join;Table scan on a 60",
        "Nested loop inner join;Index lookup on b using k (a_id=a.id) 90",
    ];
    assert_eq!(folded(&trace), wanted);
    assert_eq!(trace.series[0].unit, Unit::Microseconds);
    assert_eq!(trace.heading.picture, Some(Picture::Icicle));
    let details: Vec<&str> = trace.series[0].rows().filter_map(|row| trace.names.detail(*row.stack.last()?)).collect();
    assert_eq!(details[2], "3 rows per loop, 3 loops; estimated: cost=1.3 rows=3");
}

#[test]
fn br_16_parts_longer_than_the_whole() {
    let trace = read(
        "-> Sort: a.x  (actual time=1.00..1.10 rows=5 loops=1) \n    -> Filter: (a.y > 2)  (actual time=0.10..1.20 rows=5 loops=1)
        -> Table scan on a  (actual time=0.05..0.90 rows=50 loops=1)
",
    );
    let wanted = ["Sort: a.x 0", "Sort: a.x;Filter: (a.y > 2) 300", "Sort: a.x;Filter: (a.y > 2);Table scan on a 900"];
    assert_eq!(folded(&trace), wanted);
    assert!(notes(&trace).contains("weight 100000"), "{}", notes(&trace));
}

#[test]
fn br_38_dividers_and_missed_stacks() {
    let trace = read("mysqld;[Missed User Stack];-;finish_task_switch;schedule 120\n");
    assert_eq!(folded(&trace), ["mysqld;[Missed User Stack];finish_task_switch;schedule 120"]);
}

#[test]
fn br_39_blocks() {
    let trace = read(
        "    finish_task_switch
    schedule
    --
    __nanosleep
    main
    -                mysqld (4242)
        1500
",
    );
    assert_eq!(folded(&trace), ["mysqld;main;__nanosleep;schedule;finish_task_switch 1500"]);
    let numbered = read(
        "    #0  0xffffffff81a1b2c3 schedule+0x5e\n    #1  0x000055d0c0ffee00 main+0x42\n    -                mysqld (7)\n        3\n",
    );
    assert_eq!(folded(&numbered), ["mysqld;main;schedule 3"]);
}

#[test]
fn br_41_buckets_are_powers_of_two() {
    let trace = read("@:\n[512, 1K)  2 |@@|\n[1K, 2K)  3 |@@@|\n");
    let row = trace.series[0].rows().next().unwrap();
    let buckets: Vec<(i128, i128, i128)> =
        row.distribution.unwrap().buckets().iter().map(|bucket| (bucket.low, bucket.high, bucket.count)).collect();
    assert_eq!(buckets, [(512, 1024, 2), (1024, 2048, 3)]);
    assert_eq!(row.value, 5);
}

#[test]
fn br_41_counts_in_hex() {
    let trace = read(
        "{\"type\": \"hist\", \"data\": {\"@us\": [{\"min\": 16, \"max\": 31, \"count\": 120},{\"min\": 32, \"max\": 63, \"count\": 2d5}]}}\n",
    );
    let row = trace.series[0].rows().next().unwrap();
    let counts: Vec<i128> = row.distribution.unwrap().buckets().iter().map(|bucket| bucket.count).collect();
    assert_eq!(counts, [0x120, 0x2d5]);
    assert_eq!(trace.series[0].unit, Unit::Microseconds);
}

#[test]
fn br_53_nesting_is_counted_once() {
    let trace = read(
        "thread_id\tevent_id\tnesting_event_id\tevent_name\ttimer_wait
7\t1\tNULL\tstatement/sql/select\t900000
7\t2\t1\tstage/sql/executing\t500000
7\t3\t2\twait/io/file/innodb/innodb_data_file\t300000
",
    );
    let wanted = [
        "statement/sql/select 400000",
        "statement/sql/select;stage/sql/executing 200000",
        "statement/sql/select;stage/sql/executing;wait/io/file/innodb/innodb_data_file 300000",
    ];
    assert_eq!(folded(&trace), wanted);
    assert_eq!(trace.series[0].unit, Unit::Picoseconds);
    // The same from paths that a recursive query has put together.
    let paths = read(
        "path\ttimer_wait\nstatement/sql/select\t900000\nstatement/sql/select;stage/sql/executing\t500000
statement/sql/select;stage/sql/executing;wait/io/file/innodb/innodb_data_file\t300000\n",
    );
    assert_eq!(folded(&paths), wanted);
}

#[test]
fn br_53_idle_and_background_are_told() {
    let trace = read(
        "event_name\tcount_star\tsum_timer_wait
idle\t3\t1000000000000000
wait/synch/cond/mysqlx/scheduler_dynamic_worker_pending\t2\t20000000000000000
wait/io/file/sql/binlog\t5\t3000000000
",
    );
    let wanted = [
        "idle 1000000000000000",
        "wait;synch;cond;mysqlx;scheduler_dynamic_worker_pending 20000000000000000",
        "wait;io;file;sql;binlog 3000000000",
    ];
    assert_eq!(folded(&trace), wanted);
    let notes = notes(&trace);
    assert!(notes.contains("idle 1000 s, 4.8%") && notes.contains("background conditions 20000 s, 95.2%"), "{notes}");
}

#[test]
fn br_53_circles_are_opened() {
    let trace = read(
        "thread_id\tevent_id\tnesting_event_id\tevent_name\ttimer_wait
1\t1\t2\tstatement/sql/begin\t10
1\t2\t1\ttransaction\t100
1\t3\t2\tstatement/sql/insert\t60
1\t4\t4\tstage/sql/own\t1
1\t5\t77\tstage/sql/orphan\t2
",
    );
    let wanted = [
        "transaction;statement/sql/begin 10",
        "transaction 30",
        "transaction;statement/sql/insert 60",
        "stage/sql/own 1",
        "stage/sql/orphan 2",
    ];
    assert_eq!(folded(&trace), wanted);
    assert!(notes(&trace).contains("1 circles"), "{}", notes(&trace));
}

#[test]
fn br_54_cut_texts_and_the_full_table() {
    let trace = read(
        "schema_name\tdigest\tdigest_text\tcount_star\tsum_timer_wait
app\taaaa\tSELECT ?\t10\t1000
app\tbbbb\tSELECT `a` , `b...\t2\t300
NULL\tNULL\tNULL\t5\t70
",
    );
    let times: Vec<String> = folded(&trace).into_iter().take(3).collect();
    assert_eq!(times, ["app;SELECT ? 1000", "app;SELECT `a` , `b... 300", ";[digest table full] 70"]);
    let total = |function| trace.series.iter().find(|series| series.function == function).unwrap().total();
    assert_eq!((total(Function::Sum), total(Function::Count)), (1370, 17));
    let notes = notes(&trace);
    assert!(notes.contains("digest text cut") && notes.contains("[digest table full]"), "{notes}");
}

#[test]
fn br_54_five_forms_are_one() {
    let rows = [["app", "aa", "SELECT `a` | ?", "3", "40"], ["NULL", "NULL", "NULL", "5", "70"]];
    let names = ["schema_name", "digest", "digest_text", "count_star", "sum_timer_wait"];
    let lines = |separator: &str| {
        let all = std::iter::once(names).chain(rows);
        all.map(|row| row.join(separator) + "\n").collect::<String>()
    };
    let batch = lines("\t");
    let csv = lines(",");
    let border = "+-----+-----+-------------------+-----+-----+\n";
    let boxed: Vec<String> =
        std::iter::once(names).chain(rows).map(|row| format!("| {} |\n", row.join(" | "))).collect();
    let boxed = format!("{border}{}{border}{}{}{border}2 rows in set\n", boxed[0], boxed[1], boxed[2]);
    let field = |(name, value): (&&str, &&str)| format!("{name:>14}: {value}\n");
    let vertical: String = rows
        .iter()
        .zip(1..)
        .map(|(row, at)| {
            format!(
                "*************************** {at}. row ***************************\n{}",
                names.iter().zip(row).map(field).collect::<String>()
            )
        })
        .collect();
    let element = |(name, value): (&&str, &&str)| match *value {
        "NULL" => format!("\t<field name=\"{name}\" xsi:nil=\"true\" />\n"),
        value => format!("\t<field name=\"{name}\">{value}</field>\n"),
    };
    let xml: String = rows
        .iter()
        .map(|row| format!("  <row>\n{}  </row>\n", names.iter().zip(row).map(element).collect::<String>()))
        .collect();
    let xml = format!("<?xml version=\"1.0\"?>\n\n<resultset statement=\"x\">\n{xml}</resultset>\n");
    let value = |value: &&str| {
        if *value == "NULL" || value.parse::<u32>().is_ok() { (*value).to_owned() } else { format!("'{value}'") }
    };
    let tuple = |row: &[&str; 5]| format!("({})", row.iter().map(value).collect::<Vec<_>>().join(","));
    let created: String = names.iter().map(|name| format!("  `{name}` varchar(64) DEFAULT NULL,\n")).collect();
    let dump = format!(
        "-- MariaDB dump\n/*!40101 SET NAMES utf8 */;\nCREATE TABLE `d` (\n{created}  KEY (a)\n) ENGINE=x;\nINSERT INTO `d` VALUES {},\n{};\nUNLOCK TABLES;\n",
        tuple(&rows[0]),
        tuple(&rows[1])
    );
    for (form, text) in [("csv", csv), ("dump", dump), ("boxed", boxed), ("vertical", vertical), ("xml", xml)] {
        assert_eq!(folded(&read(&text)), folded(&read(&batch)), "{form}");
    }
}

#[test]
fn br_56_updates_and_deletes() {
    let trace = read(
        r#"{"query_block":{"select_id":1,"r_total_time_ms":5,"table":{"delete":1,"table_name":"a","r_total_time_ms":5,"r_rows":3}}}"#,
    );
    assert_eq!(folded(&trace), ["query_block #1 0", "query_block #1;a (delete) 5000"]);
}

#[test]
fn br_56_unknown_nodes_are_frames() {
    let trace = read(
        r#"{"query_block": {"select_id": 1, "r_loops": 1, "r_total_time_ms": 9,
            "block-nl-join": {"table": {"table_name": "b", "access_type": "ALL", "r_table_time_ms": 3, "r_other_time_ms": 1},
                "r_unpack_time_ms": 0.5, "r_other_time_ms": 0.25},
            "new_thing": {"table": {"table_name": "c", "access_type": "ALL", "r_table_time_ms": 2, "r_other_time_ms": 1}}}}"#,
    );
    let wanted = [
        "query_block #1 1250",
        "query_block #1;block-nl-join 750",
        "query_block #1;block-nl-join;b (ALL) 4000",
        "query_block #1;new_thing 0",
        "query_block #1;new_thing;c (ALL) 3000",
    ];
    assert_eq!(folded(&trace), wanted);
}

#[test]
fn br_56_nothing_to_weigh_is_refused() {
    let replaced = r#"{"query_block": {"select_id": 1, "r_total_time_ms": "REPLACED", "table": {"table_name": "a"}}}"#;
    let error = try_read(replaced.as_bytes(), None).err().unwrap().to_string();
    assert!(error.contains("the word REPLACED"), "{error}");
    let estimates = r#"{"query_block": {"select_id": 1, "cost": 3, "table": {"table_name": "a", "rows": 3}}}"#;
    let error = try_read(estimates.as_bytes(), None).err().unwrap().to_string();
    assert!(error.contains("estimates only") && error.contains("ANALYZE FORMAT=JSON"), "{error}");
}

#[test]
fn br_58_separators_inside_names() {
    let trace = read(
        "timestamp|tid|tgid|comm|state|ustack|kstack
2025-01-01 00:00:00.000001|43|42|mysqld|SLEEP|wait(std::chrono::duration<long, std::ratio<1l, 2l> >)+0x81;main+0x4|futex_wait+0x9;do_syscall_64+0x3
2025-01-01 00:00:00.000002|44|42|mysqld|SLEEP|[no_ustack]|ep_poll+0x1
2025-01-01 00:00:00.000003|45|42|mysqld|SLEEP|operator|(A, B)+0x1;main+0x4|
",
    );
    let rows = folded(&trace);
    assert_eq!(rows[0], "mysqld;SLEEP;main;wait;do_syscall_64;futex_wait 1");
    assert_eq!(rows[1], "mysqld;SLEEP;[no_ustack];ep_poll 1");
    assert!(rows[2].starts_with("mysqld;SLEEP;main;operator|"), "{}", rows[2]);
    assert!(notes(&trace).contains("innermost first"));
}

#[test]
fn equal_steps_of_a_plan_stay_apart() {
    let one = "-> Append  (actual time=1..4 rows=2 loops=1)
    -> Table scan on a  (actual time=0.5..1 rows=1 loops=1)
    -> Table scan on a  (actual time=0.5..2 rows=1 loops=1)
";
    let wanted = ["Append 1000", "Append;Table scan on a 1000", "Append;Table scan on a #2 2000"];
    assert_eq!(folded(&read(one)), wanted);
    let again = ["Append #2 1000", "Append #2;Table scan on a #3 1000", "Append #2;Table scan on a #4 2000"];
    assert_eq!(folded(&read(&one.repeat(2))), [wanted, again].concat());
}

#[test]
fn map_keys_with_commas_and_line_feeds() {
    let trace = read(
        "Attaching 1 probe...
@t[app, select a,
       b
  from t
 where x = '5, 6']: 7
@t[app, ]: 8
@q[1]: INSERT 'a
b'
@[
        leaf+12
        root+7
, mysqld]: 3
@[
, mysqld]: 4
",
    );
    let wanted = [
        "app;select a,\n       b\n  from t\n where x = '5, 6' 7",
        "app; 8",
        "mysqld;root;leaf 3",
        "mysqld;[no stack] 4",
    ];
    assert_eq!(folded(&trace), wanted);
    assert!(notes(&trace).contains("map @q holds texts"));
}

#[test]
fn maps_printed_again_are_passes() {
    let growing = read("@n[a]: 1\n@n[b]: 1\n\n@n[a]: 3\n@n[b]: 5\n");
    assert_eq!(folded(&growing), ["a 3", "b 5"]);
    let cleared = read("@n[a]: 4\n@n[b]: 1\n\n@n[a]: 3\n");
    assert_eq!(folded(&cleared), ["a 7", "b 1"]);
}

#[test]
fn headerless_rows() {
    let trace = read("wait/io/file/sql/binlog\t5\nidle\t7\nwait/io/file/sql/binlog\tNULL\n");
    assert_eq!(folded(&trace), ["wait;io;file;sql;binlog 5", "idle 7"]);
    assert!(notes(&trace).contains("event without a time"));
}

#[test]
fn a_plan_behind_another_result() {
    let text = "count(*)
4
*************************** 1. row ***************************
ANALYZE: {
  \"query_block\": {
    \"select_id\": 1,
    \"r_total_time_ms\": 2
  }
}
";
    let trace = read(text);
    assert_eq!(folded(&trace), ["query_block #1 2000"]);
    assert!(notes(&trace).contains("no step of a plan"), "{}", notes(&trace));
}

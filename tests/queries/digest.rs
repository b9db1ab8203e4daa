//! The digest: its sums, its forms, its order.

use crate::support::{MARIADB_LOG, read, show};

#[test]
fn the_total_is_that_of_the_log_and_of_its_lines() {
    let trace = read(std::fs::read(MARIADB_LOG).unwrap());
    let json = show("digest-json", &trace, &[]);
    let lines: Vec<serde_json::Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (total, classes) = lines.split_last().unwrap();
    let sum = |name: &str| classes.iter().map(|line| line["digest"][name].as_u64().unwrap()).sum::<u64>();
    assert_eq!(sum("count"), 516);
    assert_eq!(total["total"]["count"], 516);
    let elapsed: u64 = trace.queries.iter().map(|query| query.elapsed.unwrap()).sum();
    assert_eq!(sum("total_ns"), elapsed);
    assert_eq!(total["total"]["total_ns"].as_u64(), Some(elapsed));
    let sent: u64 = trace.queries.iter().map(|query| query.rows_sent.unwrap()).sum();
    assert_eq!(sum("rows_sent"), sent);
}

#[test]
fn aggregations_join_their_statements() {
    let dump = "# seatrace\t1\n\
        # aggregation\tq\tquantize\tns\tquery:text\nselect 1\\0\t\n\
        \x20          value  ------------- Distribution ------------- count    \n\
        \x20           512 |                                         0        \n\
        \x20          1024 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 4        \n\
        \x20          2048 |                                         0        \n\n\
        # end\tq\n\
        # aggregation\tquery_off_cpu\tsum\tns\tquery:text\tcall:text\tstack:frames/64\n\
        select 2\\0\tother\\0\t\nmariadbd`lock_wait+0x1\nmariadbd`main+0x2\n700\n\
        select 2\\0\tfdatasync\\0\t\nmariadbd`main+0x2\n20\n# end\tquery_off_cpu\n";
    let mut trace = seatrace::model::Trace::default();
    let mut input = seatrace::input::Input::from_read("dump", Box::new(dump.as_bytes())).unwrap();
    seatrace::format::read(&mut input, Some("dump"), &Default::default(), &mut trace).unwrap();
    trace.finish();
    let json = show("digest-json", &trace, &[]);
    let first: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    let class = &first["digest"];
    assert_eq!((&class["count"], &class["total_is_estimate"]), (&4.into(), &true.into()), "{json}");
    assert_eq!(class["p95_ns"], serde_json::json!([1024, 2048]));
    assert_eq!((&class["waits_ns"]["row lock"], &class["waits_ns"]["disk"]), (&700.into(), &20.into()), "{json}");
}

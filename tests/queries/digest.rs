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

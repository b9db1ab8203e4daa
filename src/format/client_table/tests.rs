//! Each form of client output, by hand.

//! The shapes of client output, each from a hand-written example.

use super::*;

fn known(names: &[String]) -> bool {
    names.iter().any(|name| name == "event_name" || name == "explain")
}

fn items(text: &str) -> Vec<Item> {
    let mut lines = Lines::from_bytes(text.as_bytes());
    let mut tables = Tables::new(&mut lines, known);
    std::iter::from_fn(|| tables.next()).collect()
}

fn columns(names: &[&str]) -> Item {
    Item::Columns(names.iter().map(|name| (*name).to_owned()).collect())
}

fn row(line: u64, cells: &[&str]) -> Item {
    let cells = cells.iter().map(|text| (*text != "NULL").then(|| text.as_bytes().to_vec())).collect();
    Item::Row(Row { line, cells })
}

#[test]
fn batch_with_two_results() {
    let text = "event_name\ttimer_wait\na\tNULL\na\tb\tc\n1\t2\t3\n";
    assert_eq!(
        items(text),
        [
            columns(&["event_name", "timer_wait"]),
            row(2, &["a", "NULL"]),
            columns(&["a", "b", "c"]),
            row(4, &["1", "2", "3"])
        ]
    );
}

#[test]
fn raw_batch_text_over_several_lines() {
    let text = "event_name\tn\tsql_text\nx\t3\tone\n\ntwo\t\nx\t4\tz\n";
    assert_eq!(
        items(text),
        [columns(&["event_name", "n", "sql_text"]), row(2, &["x", "3", "one\n\ntwo\t"]), row(5, &["x", "4", "z"])]
    );
}

#[test]
fn boxed_cells_with_bars_and_line_feeds() {
    let text = "\
+------------+-----------------+---+
| event_name | sql_text        | n |
+------------+-----------------+---+
| a          | x | y           | 1 |
| b          | one
two | 3                 | 2 |
+------------+-----------------+---+
2 rows in set (0.001 sec)
";
    let wanted =
        [columns(&["event_name", "sql_text", "n"]), row(4, &["a", "x | y", "1"]), row(5, &["b", "one\ntwo | 3", "2"])];
    assert_eq!(items(text), wanted);
}

#[test]
fn vertical_values_over_several_lines() {
    let text = "\
*************************** 1. row ***************************
event_name: a
         n: one
 colon: no field
*************************** 2. row ***************************
event_name: b
         n:
1 row in set
";
    assert_eq!(
        items(text),
        [columns(&["event_name", "n"]), row(1, &["a", "one\n colon: no field"]), row(5, &["b", ""])]
    );
}

#[test]
fn xml_and_csv() {
    let text = "<?xml version=\"1.0\"?>\n\n<resultset statement=\"x\">\n  <row>\n\t<field name=\"a\">1 &lt; 2\n3</field>\n\t<field name=\"b\" xsi:nil=\"true\" />\n  </row>\n</resultset>\n";
    assert_eq!(items(text), [columns(&["a", "b"]), row(4, &["1 < 2\n3", "NULL"])]);
    let text = "event_name,n\n\"a, \"\"b\"\"\",1\nc,NULL\n";
    assert_eq!(items(text), [columns(&["event_name", "n"]), row(2, &["a, \"b\"", "1"]), row(3, &["c", "NULL"])]);
}

#[test]
fn escapes() {
    assert_eq!(unescape(br"a\nb\tc\\d\0e\'f\"), b"a\nb\tc\\d\0e\\'f\\");
}

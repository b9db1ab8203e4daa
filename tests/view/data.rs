//! JSON, CSV, speedscope and pprof: what programs read.

use std::io::Read;

use seatrace::model::{
    Distribution, EventTable, Field, FieldType, FieldValue, Function, KeyKind, Query, QueryKind, Schema, Trace, Value,
};
use seatrace::units::Unit;
use serde_json::Value as Json;

use crate::support::{add_stacks, key, options, queries, query, show, stacks, trace};

fn lines(text: &str) -> Vec<Json> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// One of everything.
fn everything() -> Trace {
    let mut trace = trace();
    trace.query(query("SELECT 1")).unwrap();
    let attributes = vec![("QC_hit".into(), "No".into())];
    let admin = Query { text: "Quit".into(), kind: QueryKind::Admin, cut: true, attributes, ..Query::default() };
    trace.query(admin).unwrap();
    let field = |name: &str, kind| Field { name: name.into(), kind };
    let fields = vec![
        field("start", FieldType::Wall),
        field("file", FieldType::Text),
        field("took", FieldType::Duration),
        field("size", FieldType::Bytes),
    ];
    let values = |file: &str, size| vec![FieldValue::Int(7), FieldValue::Text(file.into()), FieldValue::Int(9), size];
    trace.events.push(EventTable {
        schema: Schema { kind: "io".into(), fields },
        rows: vec![values("=cmd()", FieldValue::Unknown), values("a,b", FieldValue::Int(512))],
    });
    let mut number = key("fd");
    number.kind = KeyKind::Int;
    let series = trace.series(Some("waits"), Function::Sum, Unit::Microseconds, &[key("thread"), number], true);
    let keys = [trace.names.text(b"worker"), trace.names.text(b"12")];
    let frames = [trace.names.frame(b"db`main+0x1"), trace.names.frame(b"db`poll+0x2")];
    trace.row(series, &keys, &frames, Value::Number(5));
    let mut distribution = Distribution::new();
    distribution.add(i128::MIN, 0, 1);
    distribution.add(10, 20, 4);
    let series = trace.series(Some("sizes"), Function::Lquantize, Unit::Bytes, &[], false);
    trace.row(series, &[], &[], Value::Distribution(distribution));
    trace.notes.loss("12 drops on CPU 0", Some("x:3".into()));
    trace.finish();
    trace
}

#[test]
fn json_tells_everything() {
    let text = show("json", &everything(), &[]);
    let expected = r#"{"type":"seatrace","version":1}
{"type":"query","end_ns":1796035992790984277,"connection":35,"user":"app","host":"web1","database":"shop","status":0,"elapsed_ns":162345,"kind":"direct","query":"SELECT 1"}
{"type":"query","kind":"admin","query":"Quit","cut":true,"attributes":{"QC_hit":"No"}}
{"type":"event","kind":"io","fields":{"start_ns":7,"file":"=cmd()","took_ns":9}}
{"type":"event","kind":"io","fields":{"start_ns":7,"file":"a,b","took_ns":9,"size":512}}
{"type":"row","series":"waits","function":"sum","unit":"ns","keys":{"thread":"worker","fd":12},"stack":["db`main","db`poll"],"value":5000}
{"type":"row","series":"sizes","function":"lquantize","unit":"bytes","keys":{},"count":5,"buckets":[{"low":null,"high":0,"count":1},{"low":10,"high":20,"count":4}]}
{"type":"note","severity":"loss","text":"12 drops on CPU 0","count":1,"places":["x:3"]}
{"type":"trace","inputs":[],"queries":2,"events":2,"rows":2}
"#;
    assert_eq!(text, expected);
}

#[test]
fn every_example_of_the_page_is_what_is_printed() {
    let page = include_str!("../../docs/json.md");
    let examples: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("    {").map(|_| line.trim())).collect();
    assert!(examples.len() >= 7);
    for example in &examples {
        let object: Json = serde_json::from_str(example).unwrap();
        assert!(object["type"].is_string());
    }
    assert!(examples.contains(&show("json", &queries(&["SELECT 1"]), &[]).lines().nth(1).unwrap()));
}

#[test]
fn json_is_exact_and_harmless() {
    let mut trace = stacks(Unit::Unknown, &[("a", 18_446_744_073_709_551_616)]);
    trace.query(query("\u{1b}]0;x\u{7}\u{202e}\u{9b}é\u{e0001}")).unwrap();
    let text = show("json", &trace, &[]);
    assert!(text.contains("\"value\":18446744073709551616}"));
    assert!(text.contains(r#""query":"\u001b]0;x\u0007\u202e\u009bé\udb40\udc01""#), "{text}");
    assert_eq!(lines(&text)[1]["query"], "\u{1b}]0;x\u{7}\u{202e}\u{9b}é\u{e0001}");
}

#[test]
fn csv_is_a_table_a_kind() {
    let text = show("csv", &everything(), &[]);
    let expected = "\
end_ns,connection,user,host,database,status,elapsed_ns,lock_ns,rows_sent,rows_examined,rows_affected,kind,cut,query
1796035992790984277,35,app,web1,shop,0,162345,,,,,direct,0,SELECT 1
,,,,,,,,,,,admin,1,Quit

start_ns,file,took_ns,size
7,'=cmd(),9,
7,\"a,b\",9,512

thread,fd,stack,waits_us
worker,12,db`main;db`poll,5

low_bytes,high_bytes,count
,0,1
10,20,4
";
    assert_eq!(text, expected);
}

#[test]
fn csv_holds_no_formula_and_no_control_character() {
    let text = show("csv", &queries(&["-- x\u{1b}[2J\n\"y\"", "@a", "-5"]), &[]);
    assert!(
        text.contains("\"'-- x\u{fffd}[2J\n\"\"y\"\"\"") && text.contains(",'@a\n") && text.contains(",-5\n"),
        "{text}"
    );
}

#[test]
fn speedscope_has_frames_and_weights() {
    let trace = stacks(Unit::Picoseconds, &[("main;a", 3000), ("main", 1500), ("main;b", 0), ("x", -4)]);
    let file: Json = serde_json::from_str(&show("speedscope", &trace, &["--title", "t"])).unwrap();
    assert_eq!(file["$schema"], "https://www.speedscope.app/file-format-schema.json");
    assert_eq!(file["shared"]["frames"], serde_json::json!([{"name": "main"}, {"name": "a"}]));
    let profile = &file["profiles"][0];
    assert_eq!(
        (&profile["type"], &profile["unit"], &profile["name"]),
        (&"sampled".into(), &"nanoseconds".into(), &"t".into())
    );
    assert_eq!(profile["samples"], serde_json::json!([[0, 1], [0]]));
    assert_eq!(profile["weights"].to_string(), "[3,1.500]");
    assert_eq!(profile["endValue"].to_string(), "4.500");
}

/// The fields of a protocol buffer message: number, and either an integer or bytes.
fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, Vec<u8>)> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = bytes[0];
            *bytes = &bytes[1..];
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return value;
            }
            shift += 7;
        }
    }
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let value = varint(&mut bytes);
        let text = if tag & 7 == 2 { bytes[..value as usize].to_vec() } else { Vec::new() };
        bytes = &bytes[text.len()..];
        found.push((tag >> 3, value, text));
    }
    found
}

#[test]
fn pprof_has_values_labels_and_strings() {
    let mut out = Vec::new();
    let view = seatrace::view::by_name("pprof").unwrap();
    (view.write)(&everything(), &options(&["--label", "host=db1"]), &mut out).unwrap();
    let mut message = Vec::new();
    flate2::read::GzDecoder::new(&out[..]).read_to_end(&mut message).unwrap();
    let fields_of = |number: u64| -> Vec<Vec<u8>> {
        fields(&message).into_iter().filter(|field| field.0 == number).map(|field| field.2).collect()
    };
    let strings: Vec<String> = fields_of(6).into_iter().map(|text| String::from_utf8(text).unwrap()).collect();
    assert_eq!(strings[0], "");
    let samples = fields_of(2);
    assert_eq!(samples.len(), 1);
    let sample = fields(&samples[0]);
    // The leaf is first; the value is 5.
    assert_eq!((&sample[0].2, &sample[1].2), (&vec![1, 2], &vec![5]));
    let label = |field: &(u64, u64, Vec<u8>)| {
        let parts = fields(&field.2);
        format!("{}={}", strings[parts[0].1 as usize], strings[parts[1].1 as usize])
    };
    assert_eq!(sample[2..].iter().map(label).collect::<Vec<_>>(), ["thread=worker", "fd=12", "host=db1"]);
    let functions: Vec<String> =
        fields_of(5).iter().map(|function| strings[fields(function)[1].1 as usize].clone()).collect();
    assert_eq!(functions, ["db`poll", "db`main"]);
}

#[test]
fn every_view_of_stacks_conserves_the_weight() {
    let mut trace = trace();
    let rows: Vec<(String, i128)> = (1..200).map(|n| (format!("a{};b{};c{}", n % 3, n % 7, n % 11), n * 37)).collect();
    let rows: Vec<(&str, Value)> = rows.iter().map(|(path, weight)| (path.as_str(), Value::Number(*weight))).collect();
    add_stacks(&mut trace, Function::Sum, Unit::Bytes, &rows);
    trace.finish();
    let total: i128 = (1..200i128).map(|n| n * 37).sum();
    let last = |line: &str| line.rsplit(' ').next().unwrap().parse::<i128>().unwrap();
    assert_eq!(show("folded", &trace, &[]).lines().map(last).sum::<i128>(), total);
    let rows = lines(&show("json", &trace, &[]));
    assert_eq!(rows.iter().filter_map(|row| row["value"].as_i64()).map(i128::from).sum::<i128>(), total);
    let csv = show("csv", &trace, &[]);
    let cells = csv.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse::<i128>().unwrap());
    assert_eq!(cells.sum::<i128>(), total);
    let file: Json = serde_json::from_str(&show("speedscope", &trace, &[])).unwrap();
    let weights = file["profiles"][0]["weights"].as_array().unwrap();
    assert_eq!(weights.iter().map(|weight| i128::from(weight.as_i64().unwrap())).sum::<i128>(), total);
    assert!(show("top", &trace, &[]).starts_with("# total 736,300 bytes\n"), "199 * 200 / 2 * 37 is 736300");
    assert!(show("flame", &trace, &[]).contains("all (736,300 bytes, 100.00%"));
}

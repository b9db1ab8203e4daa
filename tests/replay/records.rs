//! Query records of a dump: every odd value, as the log shows it. The cells were written by hand, after docs/dump-format.md.

use crate::support::{notes, read, show};

const HEADINGS: &str = "# seatrace\t1\n# strsize\t32\n# record\tquery\tend:wall\tconnection:int\tuser:text\thost:text\tdatabase:text\t\
                        status:int\telapsed:ns\tquery:text\n";

/// A dump of records, given by their values.
fn dump(records: &[&[u8]]) -> Vec<u8> {
    let mut dump = HEADINGS.as_bytes().to_vec();
    for values in records {
        dump.extend_from_slice(&[b"query\t", *values, b"\n"].concat());
    }
    dump.extend_from_slice(b"# stop\t1\n");
    dump
}

/// Values of a record, and the cells of its line in the log.
type Case<'a> = (&'a [u8], [&'a str; 7]);

fn assert_lines(cases: &[Case<'_>]) {
    let records: Vec<&[u8]> = cases.iter().map(|case| case.0).collect();
    let log = show(&read(dump(&records)), "log");
    let lines = log.lines().skip(1).filter(|line| !line.starts_with('#'));
    let mut count = 0;
    for (line, (values, [time, connection, who, database, status, milliseconds, text])) in lines.zip(cases) {
        let expected =
            format!("{time:<12} {connection:>5} {who:<14} {database:<8} {status:>6} {milliseconds:>9} {text}");
        assert_eq!(line, expected.trim_end(), "{}", String::from_utf8_lossy(values));
        count += 1;
    }
    assert_eq!(count, cases.len(), "{log}");
}

#[test]
fn texts_with_and_without_escapes() {
    let cut = [&b"\t\t\t\t\t\t\t"[..], &[b'x'; 31]].concat();
    let cut_in_a_character = [&b"\t\t\t\t\t\t\t"[..], &[b'x'; 30], b"\\303"].concat();
    let (whole, part) = (format!("{} [cut]", "x".repeat(31)), format!("{} [cut]", "x".repeat(30)));
    assert_lines(&[
        (
            b"1500000000\t7\tapp\\0\tweb1\\0\tshop\\0\t0\t162345\tSELECT 1\\0",
            ["00:00:01.500", "7", "app@web1", "shop", "0", "0.162", "SELECT 1"],
        ),
        // Without the end of the string, and a long name in a column.
        (b"\t\tapp\tweb1\tshop\t\t\tSELECT 1", ["-", "-", "app@web1", "shop", "-", "-", "SELECT 1"]),
        (
            b"\t\ta_long_user_name\\0\t10.0.0.1\\0\ta_database\\0\t\t\tx\\0",
            ["-", "-", "a_long_user_name@10.0.0.1", "a_database", "-", "-", "x"],
        ),
        // Unknown, and known to be empty.
        (b"\t\t\t\t\t\t\t", ["-", "-", "-", "-", "-", "-", ""]),
        (b"\t\t\\0\t\\0\t\\0\t\t\t\\0", ["-", "-", "-", "-", "-", "-", ""]),
        (b"\t\t\\0\tweb1\\0\t\t\t\tx  \\0", ["-", "-", "@web1", "-", "-", "-", "x"]),
        // Not ASCII, escaped and as it is; not UTF-8.
        (
            b"\t\tm\\303\\274\\0\th\xc3\xa9\\0\t\\303\\237\\0\t\t\tcaf\xc3\xa9\\0",
            ["-", "-", "mü@hé", "ß", "-", "-", "café"],
        ),
        (b"\t\tapp\\0\t\t\t\t\tcaf\xff\\0", ["-", "-", "app", "-", "-", "-", "caf\u{fffd}"]),
        (b"\t\tapp\\0\t\t\t\t\tcaf\\377\\0", ["-", "-", "app", "-", "-", "-", "caf\u{fffd}"]),
        // What must not reach a terminal; line breaks and the blanks around them.
        (
            b"\t\ta\\tb\\0\t\\033\\0\td\\177\\0\t\t\tSELECT \\n\\t 1\\033[2J\\0",
            ["-", "-", "a b@\\x1b", "d\\x7f", "-", "-", "SELECT 1\\x1b[2J"],
        ),
        (b"\t\tapp\\0\t\t\t\t\t\\342\\200\\256x\\0", ["-", "-", "app", "-", "-", "-", "\\u{202e}x"]),
        (b"\t\ta\\\\0\\0\t\\\"h\\\"\\0\t\t\t\ta\\\\0\\0", ["-", "-", "a\\0@\"h\"", "-", "-", "-", "a\\0"]),
        // The end of a line by CR LF; a text that fills the buffer.
        (b"\t\tapp\\0\t\t\t\t\tSELECT 1\\0\r", ["-", "-", "app", "-", "-", "-", "SELECT 1"]),
        (&cut, ["-", "-", "-", "-", "-", "-", &whole]),
        (&cut_in_a_character, ["-", "-", "-", "-", "-", "-", &part]),
    ]);
}

#[test]
fn numbers_up_to_their_ends() {
    assert_lines(&[
        (b"0\t0\t\t\t\t0\t0\tx", ["00:00:00.000", "0", "-", "-", "0", "0.000", "x"]),
        (
            b"999999999\t99999\t\t\t\t999999\t99999999499\tx",
            ["00:00:00.999", "99999", "-", "-", "999999", "99999.999", "x"],
        ),
        (
            b"1000000\t100000\t\t\t\t1000000\t99999999500\tx",
            ["00:00:00.001", "100000", "-", "-", "1000000", "100000.000", "x"],
        ),
        (b"007\t00000000000000000000012\t\t\t\t-1\t+1500\tx", ["00:00:00.000", "12", "-", "-", "-1", "0.002", "x"]),
        (
            b"86399999999999\t12345678\t\t\t\t-123456\t499\tx",
            ["23:59:59.999", "12345678", "-", "-", "-123456", "0.000", "x"],
        ),
        (
            b"9223372036854775807\t18446744073709551615\t\t\t\t9223372036854775807\t18446744073709551615\tx",
            ["23:47:16.854", "18446744073709551615", "-", "-", "9223372036854775807", "18446744073709.552", "x"],
        ),
        (
            b"-9223372036854775808\t\t\t\t\t-9223372036854775808\t9999999999999999999\tx",
            ["00:12:43.145", "-", "-", "-", "-9223372036854775808", "10000000000000.000", "x"],
        ),
    ]);
}

#[test]
fn records_with_other_values_are_counted() {
    let bad: [&[u8]; 12] = [
        b"1\t2\t\t\t\t0\t1",
        b"1\t2\t\t\t\t0\t1\tx\t",
        b"1\t2\t\t\t\t0\t1\tx\\0\ty\\0",
        b"x\t2\t\t\t\t0\t1\tx",
        b"1.5\t2\t\t\t\t0\t1\tx",
        b"1\t-\t\t\t\t0\t1\tx",
        b"1\t 2\t\t\t\t0\t1\tx",
        b"1\t-2\t\t\t\t0\t1\tx",
        b"1\t2\\0\t\t\t\t0\t1\tx",
        b"9223372036854775808\t2\t\t\t\t0\t1\tx",
        b"1\t18446744073709551616\t\t\t\t0\t1\tx",
        b"1\t2\t\t\t\t0\t-1\tx",
    ];
    let mut records = vec![&b"1\t2\t\t\t\t0\t1\tgood"[..]];
    records.extend(bad);
    let trace = read(dump(&records));
    assert_eq!((trace.query_count, trace.queries[0].text.as_ref()), (1, "good"));
    assert_eq!(
        notes(&trace),
        "query record with other values than declared, passed over: 12 times (first at input:5, input:6, input:7)\n"
    );
}

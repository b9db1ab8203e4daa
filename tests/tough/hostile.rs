//! Hostile texts, planted in every field of every kind of record of every format, through every view: the output is well formed, and no
//! text of the input acts on a terminal, a page, a picture or a spreadsheet.
//!
//! What a view prints of harmless texts is the measure: the hostile ones may bring no element, attribute, line or event more.

use std::collections::BTreeMap;
use std::time::Duration;

use quick_xml::events::Event;
use seatrace::model::Trace;
use seatrace::view::{self, Options};

use super::{patiently, read_as, seatrace, show, text};

const HARMLESS: &str = "harmless";
const HOSTILE: &[&str] = &[
    "</script><script>alert(1)</script>",
    "]]><!-- --><!--",
    "\"><img src=x onerror=alert(2)>' onmouseover='alert(3)' x='",
    "</title></style></textarea></iframe><svg onload=alert(4)>",
    "&lt;b&gt; &#x3c;i&#x3e; &amp &nosuch;",
    "\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m\u{8}\u{7f}",
    "\u{202e}gnirts\u{2066}\u{200b}\u{feff}\u{e0041}",
    "=cmd|' /C calc'!A0",
    "@SUM(1+1)*cmd",
    "+1+1",
    "-2+3",
    "a\0b\u{1}c",
    "%s%n%1000000d \\u003cscript\\u003e {{7*7}} ${7}",
    "line\r\nbreak\r# Time: 700101  0:00:00\n# User@Host: x[x] @ y [z]\n# Query_time: 9  Lock_time: 9",
    "javascript:alert(5) url(http://example.invalid/) http://example.invalid/",
    "'\"`\\ ; -- /* */ #",
    "\u{fffe}\u{ffff}\u{d7ff}\u{10ffff}",
];

/// A text as `%S` prints it.
fn by_percent_s(hostile: &str) -> String {
    let byte = |byte: u8| match byte {
        b'"' | b'\\' => format!("\\{}", char::from(byte)),
        b'\n' => "\\n".into(),
        b'\t' => "\\t".into(),
        b'\r' => "\\r".into(),
        0x20..0x7f => char::from(byte).to_string(),
        _ => format!("\\{byte:03o}"),
    };
    hostile.bytes().map(byte).collect::<String>() + "\\0"
}

/// For formats of lines: without line ends.
fn on_a_line(hostile: &str) -> String {
    hostile.replace(['\n', '\r'], " ")
}

fn dump(hostile: &str) -> String {
    let (s, line) = (by_percent_s(hostile), on_a_line(hostile).replace('\t', " "));
    let word = line.replace(':', "_");
    format!(
        "# seatrace\t1\n# script\t{line}\t1\n# note\t{line}\n# lost\t3\t{line}\n# {line}\tx\n# strsize\t4096\n\
         # record\tquery\tend:wall\tconnection:int\tuser:text\thost:text\tdatabase:text\tstatus:int\telapsed:ns\tkind:text\t{word}:text\tlength:bytes\tquery:text\n\
         query\t1796035992790984277\t1\t{s}\t{s}\t{s}\t0\t5000\t{s}\t{s}\t9\t{s}\n\
         query\t1796035992790984278\t2\tu\\0\th\\0\td\\0\t1\t7000\tdirect\\0\t\t9\tselect 1\\0\n\
         # record\t{word}\t{word}:text\tsize:bytes\n{word}\t{s}\t5\n\
         # record\tfile\tname:text\tsize:bytes\nfile\t{s}\t5\n\
         dtrace: {line}\n\
         # pass\t1\t5\t{line}\n\
         # aggregation\t{word}\tsum\tns\t{word}:text\tp:path\ts:frames\n{s}\t{s}\t\n{line}\nmain`{line}\nroot\n500\n# end\t{word}\n\
         # aggregation\tb\tquantize\t{word}\t{word}:text\n{s}\t\n\n           value  ------------- Distribution ------------- count    \n\
         \x20            256 |                                         0        \n             512 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 3        \n\
         \x20           1024 |                                         0        \n\n# end\tb\n# stop\t1796035996790984277\n"
    )
}

fn stacks(hostile: &str) -> String {
    let line = on_a_line(hostile);
    let frame = line.replace(';', ":");
    format!(
        "# seatrace\t1\n# script\t{line}\t1\n# aggregation\ta\tsum\tns\tk:text\ts:frames\n{}\t\n{frame}\nmain`{frame}\nroot\n500\n# end\ta\n# stop\t1\n",
        by_percent_s(hostile)
    )
}

fn dtrace(hostile: &str) -> String {
    let line = on_a_line(hostile);
    format!(
        "dtrace: {line}\n\n  {line}\n              {line}\n              db`{line}+0x1\n              db`main+0x2\n                5\n\n  {line}                 7\n"
    )
}

fn slow_log(hostile: &str) -> String {
    let (line, statement) = (on_a_line(hostile), hostile.replace('\0', " "));
    format!(
        "# Time: 261130 14:13:12\n# User@Host: {line}[{line}] @ {line} [{line}]\n# Thread_id: 1  Schema: {line}  QC_hit: No\n\
         # Query_time: 0.100000  Lock_time: 0.000001  Rows_sent: 1  Rows_examined: 1\n# explain: {line}\nuse `{line}`;\nSET timestamp=1796035992;\nselect {statement};\n\
         # User@Host: u[u] @ h [1.2.3.4]\n# Thread_id: 2  Schema: s  QC_hit: No\n# Query_time: 0.100000  Lock_time: 0.000001  Rows_sent: 1  Rows_examined: 1\nSET timestamp=1796035993;\nselect 1;\n"
    )
}

fn plan(hostile: &str) -> String {
    let word = serde_json::to_string(hostile).expect("a string");
    format!(
        "{{\"query_block\": {{\"select_id\": 1, \"r_loops\": 1, \"r_total_time_ms\": 5.5, {word}: {{\"r_total_time_ms\": 1, \"table\": \
         {{\"table_name\": {word}, \"access_type\": {word}, \"key\": {word}, \"r_loops\": 1, \"r_rows\": 3, \"r_table_time_ms\": 2.5, \"attached_condition\": {word}}}}}}}}}"
    )
}

fn plan_tree(hostile: &str) -> String {
    let line = on_a_line(hostile);
    format!(
        "-> {line}  (cost=1 rows=1) (actual time=0.1..5.5 rows=1 loops=1)\n    -> {line}  (actual time=0.1..2.5 rows=1 loops=1)\n"
    )
}

fn perf_schema(hostile: &str) -> String {
    let cell = hostile
        .replace('\\', "\\\\")
        .replace('\n', "\\n")
        .replace('\t', "\\t")
        .replace('\0', "\\0")
        .replace('\r', "\\r");
    format!(
        "EVENT_NAME\tCOUNT_STAR\tSUM_TIMER_WAIT\nwait/io/file/{cell}\t5\t7000000\n{cell}\t5\t9000000\nwait/io/file/x\t1\t1000000\n"
    )
}

fn bpftrace(hostile: &str) -> String {
    let line = on_a_line(hostile);
    format!("Attaching 1 probe...\n{line}\n\n@[\n    {line}+1\n    main+2\n, {line}]: 5\n@us[{line}]: 3\n")
}

fn psn(hostile: &str) -> String {
    std::fs::read_to_string(super::data("psn/psn_kstack.txt"))
        .expect("a sample")
        .replace("(mysqld)", &on_a_line(hostile))
}

fn query_table(hostile: &str) -> String {
    let line = on_a_line(hostile);
    format!(
        "Who                  Database             Query                                    Time(ms) \n{line:<20} {line:<20} {line:<40} 15       \n"
    )
}

fn slower(hostile: &str) -> String {
    let line = on_a_line(hostile);
    format!(
        "Tracing MySQL server queries for PID 1 slower than 1 ms...\nTIME(s)        PID          MS QUERY\n0.000000       18608   130.751 {line}\n"
    )
}

fn folded(hostile: &str) -> String {
    let line = on_a_line(hostile).replace(';', ":");
    format!("main;{line};leaf 5\n{line} 7\n")
}

type Plant = (&'static str, fn(&str) -> String);
const PLANTS: &[Plant] = &[
    ("dump", dump),
    ("dump", stacks),
    ("dtrace", dtrace),
    ("slow-log", slow_log),
    ("plan", plan),
    ("plan", plan_tree),
    ("perf-schema", perf_schema),
    ("bpftrace", bpftrace),
    ("psn", psn),
    ("query-time-table", query_table),
    ("qslower", slower),
    ("folded", folded),
];

/// Options of a view whose output is a terminal, and of one whose output is a file.
fn all_options() -> [Options; 2] {
    [Options { columns: Some(80), ..Options::default() }, Options::default()]
}

/// Whether a character could command a terminal or turn a line around.
fn acts(c: char) -> bool {
    c.is_control()
        || ('\u{200b}'..='\u{200f}').contains(&c)
        || ('\u{202a}'..='\u{202e}').contains(&c)
        || ('\u{2066}'..='\u{2069}').contains(&c)
        || ('\u{e0000}'..='\u{e0fff}').contains(&c)
}

fn acting(shown: &str, allowed: &[char]) -> Option<char> {
    shown.chars().find(|c| acts(*c) && !allowed.contains(c))
}

/// Names of elements and of attributes, and how often those occur that do something.
fn elements(xml: &str) -> Result<BTreeMap<String, usize>, String> {
    let is_char = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..);
    if let Some(c) = xml.chars().find(|c| !is_char(*c)) {
        return Err(format!("{c:?} is no character of XML"));
    }
    let active = ["script", "style", "image", "a", "use", "foreignObject", "set", "animate"];
    let mut reader = quick_xml::Reader::from_str(xml);
    let mut found = BTreeMap::new();
    let unescape = |text: &str| quick_xml::escape::unescape(text).map(drop).map_err(|error| error.to_string());
    loop {
        match reader.read_event().map_err(|error| error.to_string())? {
            Event::Eof => return Ok(found),
            Event::Start(tag) | Event::Empty(tag) => {
                let name = tag.name().as_ref().to_owned();
                for attribute in tag.attributes() {
                    let attribute = attribute.map_err(|error| error.to_string())?;
                    unescape(&attribute.value)?;
                    found.insert(format!("{name}@{}", attribute.key.as_ref()), 0);
                }
                *found.entry(name.clone()).or_insert(0) += usize::from(active.contains(&name.as_str()));
            }
            Event::GeneralRef(name) => unescape(&format!("&{};", &*name))?,
            _ => {}
        }
    }
}

/// Names of the elements of a page, and how often those occur that do something.
fn tags(html: &str) -> BTreeMap<String, usize> {
    let pattern = regex::Regex::new(r"<([a-zA-Z!/][a-zA-Z0-9]*)").expect("a pattern");
    let mut found = BTreeMap::new();
    for tag in pattern.captures_iter(html) {
        let name = tag[1].to_lowercase();
        let active = ["script", "iframe", "style", "img", "svg", "object", "link", "form", "!", "/script"]
            .contains(&name.as_str());
        *found.entry(name).or_insert(0) += usize::from(active);
    }
    found
}

/// What is wrong with the output of a view, beside that of harmless texts.
fn fault(view: &str, options: &Options, shown: &str, harmless: &str, count: (usize, usize)) -> Option<String> {
    let is_terminal = options.columns.is_some();
    let allowed: &[char] = match view {
        "csv" | "slowlog" => &['\n', '\t'],
        _ => &['\n'],
    };
    let acting = acting(shown, allowed).map(|c| format!("{c:?} gets through"));
    let pure = ["folded", "slowlog"].contains(&view);
    if let Some(fault) = acting.filter(|_| is_terminal || !pure) {
        return Some(fault);
    }
    match view {
        "flame" | "icicle" | "heatmap" => match (elements(shown), elements(harmless)) {
            (Ok(found), Ok(expected)) if found == expected => None,
            (Ok(found), expected) => Some(format!("elements {found:?} in place of {expected:?}")),
            (Err(error), _) => Some(error),
        },
        "report" => {
            // A record that is no longer one brings fewer.
            let expected = tags(harmless);
            let is_more = |(name, count): &(String, usize)| expected.get(name).is_none_or(|expected| count > expected);
            let more: Vec<_> = tags(shown).into_iter().filter(is_more).collect();
            (!more.is_empty() && count.0 == count.1).then(|| format!("more tags: {more:?}"))
        }
        "json" | "digest-json" => shown.lines().find_map(|line| {
            serde_json::from_str::<serde_json::Value>(line).err().map(|error| format!("{error}: {line}"))
        }),
        "speedscope" => serde_json::from_str::<serde_json::Value>(shown).err().map(|error| error.to_string()),
        "csv" | "digest-csv" => {
            let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(shown.as_bytes());
            let cells = reader
                .records()
                .flat_map(|record| record.expect("a record").iter().map(str::to_owned).collect::<Vec<_>>());
            let mut formulas =
                cells.filter(|cell| cell.starts_with(['=', '+', '-', '@', '\t', '\r']) && cell.parse::<f64>().is_err());
            formulas.next().map(|cell| format!("a formula: {cell:?}"))
        }
        "slowlog" => {
            let again = read_as("slow-log", shown.as_bytes()).map_or(0, |trace| trace.queries.len());
            (again != count.0).then(|| format!("{again} events in place of {}", count.0))
        }
        "folded" => (shown.lines().count() != harmless.lines().count()).then(|| "a line more".to_owned()),
        _ => None,
    }
}

/// What a view prints; pprof unpacked. None if it cannot show such data.
fn shown(trace: &Trace, view: &str, options: &Options) -> Option<String> {
    let bytes = show(trace, view, options).ok()?;
    if view == "pprof" {
        let mut unpacked = Vec::new();
        std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(bytes.as_slice()), &mut unpacked).expect("gzip");
        return None;
    }
    Some(String::from_utf8(bytes).expect("views write UTF-8"))
}

#[test]
fn hostile_texts_do_nothing_in_any_view() {
    let (mut shown_count, mut faults) = (0, Vec::new());
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for (format, plant) in PLANTS {
        let harmless = read_as(format, plant(HARMLESS).as_bytes()).expect("it is read");
        for hostile in HOSTILE {
            let Ok(trace) = read_as(format, plant(hostile).as_bytes()) else { continue };
            for view in view::ALL {
                for options in all_options() {
                    let (Some(found), Some(expected)) =
                        (shown(&trace, view.name, &options), shown(&harmless, view.name, &options))
                    else {
                        continue;
                    };
                    shown_count += 1;
                    *seen.entry(view.name).or_insert(0) += 1;
                    let count = (trace.queries.len(), harmless.queries.len());
                    if let Some(fault) = fault(view.name, &options, &found, &expected, count) {
                        faults.push(format!(
                            "{format} {hostile:?} as {} (terminal: {}): {fault}",
                            view.name,
                            options.columns.is_some()
                        ));
                    }
                }
            }
        }
    }
    println!("{shown_count} outputs: {seen:?}");
    assert!(shown_count > 1500 && seen.len() == view::ALL.len() - 1, "{shown_count} {seen:?}");
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// The difference of a trace with hostile texts and one without, in each form.
#[test]
fn hostile_texts_do_nothing_in_a_difference() {
    let (mut shown_count, mut faults) = (0, Vec::new());
    for (format, plant) in PLANTS {
        let harmless = read_as(format, plant(HARMLESS).as_bytes()).expect("it is read");
        for hostile in HOSTILE {
            let Ok(trace) = read_as(format, plant(hostile).as_bytes()) else { continue };
            for (form, options) in ["table", "flame", "json", "folded"].into_iter().zip(all_options().iter().cycle()) {
                let compare = view::Compare::default();
                let write = |after: &Trace| {
                    let mut out = Vec::new();
                    let comparison = view::Comparison { before: &harmless, after, options, compare: &compare };
                    comparison.write(Some(form), None, &mut out).ok().map(|()| text(&out))
                };
                let (Some(found), Some(expected)) = (write(&trace), write(&harmless)) else { continue };
                shown_count += 1;
                let same_lines = if form == "folded" { found.clone() } else { expected };
                let count = (trace.queries.len(), harmless.queries.len());
                let fault = match form {
                    "flame" => acting(&found, &['\n']).map(|c| format!("{c:?}")).or(elements(&found).err()),
                    form => fault(form, options, &found, &same_lines, count),
                };
                faults.extend(fault.map(|fault| format!("{format} {hostile:?} as {form}: {fault}")));
            }
        }
    }
    assert!(shown_count > 300, "{shown_count}");
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// What goes to standard error is on a terminal too: notes and errors that quote the input or name a file.
#[test]
fn hostile_texts_do_nothing_on_standard_error() {
    let folder = tempfile::tempdir().expect("a folder");
    for (at, (format, plant)) in PLANTS.iter().enumerate() {
        for (number, hostile) in HOSTILE.iter().enumerate() {
            let name = format!("in-{at}-{number}\u{1b}[31m\u{202e}");
            std::fs::write(folder.path().join(&name), plant(hostile)).expect("it can be written");
            let from = if at % 2 == 0 { vec!["--from", format] } else { vec![] };
            let args: Vec<&str> = ["replay", &name, "-f", "json"].into_iter().chain(from).collect();
            let output = patiently(&mut seatrace(folder.path(), &args), Duration::from_secs(60));
            for said in [text(&output.stderr), text(&output.stdout)] {
                assert_eq!(acting(&said, &['\n']), None, "{format} {hostile:?}: {said:?}");
            }
        }
    }
    let garbage = "\u{1b}]0;owned\u{7}\u{202e} no format at all\n";
    std::fs::write(folder.path().join("garbage"), garbage).expect("it can be written");
    for args in [
        &["replay", "garbage"][..],
        &["replay", "\u{1b}[2Jgone"],
        &["diff", "garbage", "garbage"],
        &["doctor", "\u{1b}[2Jgone"],
    ] {
        let output = patiently(&mut seatrace(folder.path(), args), Duration::from_secs(60));
        let said = text(&[output.stderr, output.stdout].concat());
        assert!(!said.is_empty());
        assert_eq!(acting(&said, &['\n']), None, "{args:?}: {said:?}");
    }
}

/// A name of a megabyte, in every place of every format: no view panics or takes long, and pages stay pages. The formats take their time
/// beside each other.
#[test]
fn names_of_a_megabyte() {
    let name = "</a>\u{1b}\"".repeat((1 << 20) / 6);
    let plants: Vec<(&str, String)> = PLANTS.iter().map(|(format, plant)| (*format, plant(&name))).collect();
    std::thread::scope(|scope| {
        for (format, bytes) in &plants {
            scope.spawn(move || {
                let Ok(trace) = read_as(format, bytes.as_bytes()) else { return };
                view::ALL.iter().for_each(|view| show_a_megabyte(format, &trace, view.name));
            });
        }
    });
}

/// What this thread has used: no other work on the machine counts.
fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is ours and lives until the call returns.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) }, 0);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

fn show_a_megabyte(format: &str, trace: &Trace, view: &str) {
    let [narrow, wide] = all_options();
    // Views that do not cut lines show the same on a terminal.
    let cuts = ["log", "digest", "heatmap", "slowlog", "top"].contains(&view);
    for options in [wide].into_iter().chain(cuts.then_some(narrow)) {
        let begin = processor_time();
        let found = shown(trace, view, &options);
        let took = processor_time().saturating_sub(begin);
        println!("{format} as {view}: {took:?}");
        assert!(took < Duration::from_secs(40), "{format} as {view}: {took:?}");
        if let Some(found) = found.filter(|_| ["flame", "icicle", "heatmap"].contains(&view)) {
            assert_eq!(elements(&found).err(), None, "{format} as {view}");
        }
    }
}

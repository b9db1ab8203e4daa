//! Sizes: what is promised of them, and that it is said where something is cut.

use std::io::{self, Read, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

use seatrace::format::{self, Options};
use seatrace::input::{Input, MAX_LINE};
use seatrace::model::{Passes, Trace};
use seatrace::view;

use super::{in_full, notes, read_as, seatrace, show};

/// A head, one text again and again up to `size` bytes, a tail; given in blocks of at most `block` bytes.
struct Generated {
    head: &'static [u8],
    text: Vec<u8>,
    size: u64,
    tail: &'static [u8],
    block: usize,
    at: u64,
}

impl Read for Generated {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        let room = out.len().min(self.block);
        while done < room {
            let (begin, body) = (self.head.len() as u64, self.head.len() as u64 + self.size);
            let part: &[u8] = match self.at {
                at if at < begin => &self.head[at as usize..],
                at if at < body => {
                    let from = &self.text[((at - begin) % self.text.len() as u64) as usize..];
                    &from[..from.len().min((body - at) as usize)]
                }
                at => self.tail.get((at - body) as usize..).unwrap_or(&[]),
            };
            if part.is_empty() {
                break;
            }
            let count = part.len().min(room - done);
            out[done..done + count].copy_from_slice(&part[..count]);
            (done, self.at) = (done + count, self.at + count as u64);
        }
        Ok(done)
    }
}

fn read_generated(source: Generated, from: Option<&str>) -> Trace {
    let mut trace = Trace::new(Default::default(), Default::default(), Passes::Auto);
    let mut input = Input::from_read("sample", Box::new(source)).expect("memory can be read");
    format::read(&mut input, from, &Options::default(), &mut trace).expect("it is read");
    trace.finish();
    trace
}

fn total(trace: &Trace) -> i128 {
    trace.series.iter().map(|series| series.total()).sum()
}

/// A line that is too long is cut and said, its end dropped, the next one whole; however the bytes arrive.
#[test]
fn a_line_of_100_megabytes() {
    let size = if in_full() { 100 << 20 } else { MAX_LINE as u64 + (1 << 20) };
    for block in [4096, 1 << 20, usize::MAX] {
        let text = vec![b'x'; 1 << 16];
        let source = Generated { head: b"a;b 1\nmain;", text, size, tail: b" 5\nmain;c 7\n", block, at: 0 };
        let trace = read_generated(source, Some("folded"));
        assert!(notes(&trace).contains("line longer than 16 MB, cut"), "in blocks of {block}: {}", notes(&trace));
        assert!([8, 9].contains(&total(&trace)), "in blocks of {block}: {}", total(&trace));
    }
}

/// A line just as long as may be is whole.
#[test]
fn the_longest_line() {
    for (size, is_cut) in [(MAX_LINE as u64 - 2, false), (MAX_LINE as u64 - 1, true)] {
        for block in [4096, usize::MAX] {
            let source = Generated { head: b"", text: vec![b'x'; 1 << 16], size, tail: b" 5\na 1\n", block, at: 0 };
            let trace = read_generated(source, Some("folded"));
            assert_eq!(notes(&trace).contains("cut"), is_cut, "{size} in {block}: {}", notes(&trace));
        }
    }
}

/// Every view takes a stack of any depth: none recurses.
#[test]
fn a_stack_of_a_million_frames() {
    let depth = if in_full() { 1_000_000 } else { 20_000 };
    let folded = format!("{}leaf 5\nroot;b 1\n", "root;f;".repeat(depth / 2));
    let lines: String = (0..depth).map(|at| format!("              db`f{}+0x1\n", at % 50)).collect();
    let dtrace = format!("\n  mysqld\n{lines}                5\n\n");
    let frames: String = (0..depth).map(|at| format!("db`f{}+0x1\n", at % 50)).collect();
    let dump = format!("# seatrace\t1\n# aggregation\ta\tsum\tns\ts:frames\n\n{frames}5\n# end\ta\n# stop\t1\n");
    for (format, bytes, weight) in [("folded", folded, 6), ("dtrace", dtrace, 5), ("dump", dump, 5)] {
        let trace = read_as(format, bytes.as_bytes()).expect("it is read");
        assert_eq!(total(&trace), weight, "{format}: {}", notes(&trace));
        for view in view::ALL {
            let begin = Instant::now();
            let shown = show(&trace, view.name, &Default::default());
            println!(
                "{format} as {}: {:?}, {:?} bytes",
                view.name,
                begin.elapsed(),
                shown.map(|bytes| bytes.len()).ok()
            );
        }
    }
}

/// Many distinct things of every kind take time in proportion: nothing is looked for in a list.
#[test]
fn many_distinct_things() {
    let keys = if in_full() { 10_000_000 } else { 60_000 };
    let kinds = if in_full() { 400_000 } else { 30_000 };
    type Case = (&'static str, &'static str, u64, fn(u64) -> String, &'static str);
    let cases: &[Case] = &[
        (
            "keys",
            "# seatrace\t1\n# aggregation\ta\tsum\tns\tk:int\n",
            keys,
            |at| format!("{at}\t1\n"),
            "# end\ta\n# stop\t1\n",
        ),
        ("stacks", "", keys / 4, |at| format!("main;f{at} 1\n"), ""),
        ("notes", "# seatrace\t1\n", kinds, |at| format!("# note\tnumber {at}\n"), "# stop\t1\n"),
        ("losses", "# seatrace\t1\n", kinds, |at| format!("# lost\t1\tthing {at}\n"), "# stop\t1\n"),
        ("headings", "# seatrace\t1\n", kinds, |at| format!("# word{at}\tx\n"), "# stop\t1\n"),
        ("diagnostics", "# seatrace\t1\n", kinds, |at| format!("dtrace: thing {at} went wrong\n"), "# stop\t1\n"),
        ("record kinds", "# seatrace\t1\n", kinds, |at| format!("# record\tk{at}\ta:int\nk{at}\t1\n"), "# stop\t1\n"),
        (
            "aggregations",
            "# seatrace\t1\n",
            kinds,
            |at| format!("# aggregation\ta{at}\tsum\tns\n1\n# end\ta{at}\n"),
            "# stop\t1\n",
        ),
        (
            "passes",
            "# seatrace\t1\n",
            kinds,
            |at| format!("# pass\t{at}\t5\tdelta\n# aggregation\ta\tsum\tns\n1\n# end\ta\n"),
            "# stop\t1\n",
        ),
        ("unknown records", "# seatrace\t1\n", kinds, |at| format!("kind{at}\t1\n"), "# stop\t1\n"),
        ("dumps", "", kinds, |at| format!("# seatrace\t1\n# script\ts{at}\t1\n# stop\t1\n"), ""),
    ];
    for (what, head, count, row, tail) in cases {
        let rows: String = (0..*count).map(row).collect();
        let bytes = format!("{head}{rows}{tail}");
        let format = if head.is_empty() && *what == "stacks" { "folded" } else { "dump" };
        let begin = Instant::now();
        let trace = read_as(format, bytes.as_bytes());
        let took = begin.elapsed();
        println!("{what}: {count} in {took:?}");
        let trace = trace.unwrap_or_else(|error| panic!("{what}: {error}"));
        // Quadratic work takes minutes here.
        assert!(took < Duration::from_secs(15).mul_f64((*count as f64 / 30_000.0).max(1.0)), "{what}: {took:?}");
        if ["keys", "stacks"].contains(what) {
            assert_eq!(total(&trace), i128::from(*count), "{what}");
        }
    }
}

/// The most memory that a process has had so far, in bytes; `None` once it has ended, or where there is no /proc.
///
/// What wait4 tells would not do: it begins with the peak of the process that started it, which is this one.
fn most_memory(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().strip_suffix(" kB")?;
    Some(kilobytes.parse::<u64>().ok()? * 1024)
}

/// Runs `seatrace replay` on what `source` gives; its peak of memory in bytes (0 where there is no /proc) and what it wrote.
fn peak(mut source: impl Read + Send + 'static, args: &[&str]) -> (u64, Vec<u8>) {
    let folder = tempfile::tempdir().expect("a folder");
    let args: Vec<&str> = ["--quiet", "replay", "-"].iter().chain(args).copied().collect();
    let mut child =
        seatrace(folder.path(), &args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let pid = child.id();
    let watcher = std::thread::spawn(move || {
        let mut most = 0;
        while let Some(memory) = most_memory(pid) {
            most = memory;
            std::thread::sleep(Duration::from_millis(5));
        }
        most
    });
    let mut stdin = child.stdin.take().expect("a pipe");
    let feeder = std::thread::spawn(move || {
        let mut block = vec![0; 1 << 18];
        while let Ok(count @ 1..) = source.read(&mut block) {
            if stdin.write_all(&block[..count]).is_err() {
                break;
            }
        }
    });
    let mut out = Vec::new();
    let mut stdout = child.stdout.take().expect("a pipe");
    let mut block = vec![0; 1 << 16];
    while let Ok(count @ 1..) = stdout.read(&mut block) {
        // The end is enough to judge by.
        out.extend_from_slice(&block[..count]);
        let surplus = out.len().saturating_sub(1 << 20);
        out.drain(..surplus);
    }
    feeder.join().expect("it was fed");
    assert!(child.wait().expect("it ends").success());
    let most = watcher.join().expect("it was watched");
    if cfg!(target_os = "linux") {
        assert!(most > 0, "its memory was seen");
    } else {
        eprintln!("skipped: how much memory it takes, which is read from /proc");
    }
    (most, out)
}

/// How much goes through: 10 GB, with a build that is fast enough for it.
fn size() -> u64 {
    match (in_full(), cfg!(debug_assertions)) {
        (true, false) => 10_000_000_000,
        (true, true) => 100_000_000,
        (false, _) => 20_000_000,
    }
}

const MEMORY: u64 = 200_000_000;

#[test]
fn ten_gigabytes_of_stacks_in_200_megabytes() {
    let text: String =
        (0..20_000).map(|at| format!("main;dispatch;f{};g{} {}\n", at % 500, at % 97, at % 9 + 1)).collect();
    let each: u64 = (0..20_000).map(|at| at % 9 + 1).sum();
    let times = size() / text.len() as u64;
    let source = Generated {
        head: b"",
        size: times * text.len() as u64,
        text: text.into_bytes(),
        tail: b"",
        block: usize::MAX,
        at: 0,
    };
    let (memory, out) = peak(source, &["-f", "json"]);
    println!("{} MB of stacks: {} MB of memory", size() / 1_000_000, memory / 1_000_000);
    assert!(memory < MEMORY, "{memory}");
    let sum: u64 = super::text(&out)
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok()?.get("value")?.as_u64())
        .sum();
    assert!(out.len() >= 1 << 20 || sum == times * each, "{sum}");
}

#[test]
fn ten_gigabytes_of_queries_in_200_megabytes() {
    let head = b"# seatrace\t1\n# record\tquery\tend:wall\tconnection:int\telapsed:ns\tquery:text\n";
    let text: String = (0..5000)
        .map(|at| {
            format!(
                "query\t17960359927909842{:02}\t{at}\t162345\tSELECT name FROM customers WHERE id = {at}\\0\n",
                at % 100
            )
        })
        .collect();
    let times = size() / text.len() as u64;
    let source = Generated {
        head,
        size: times * text.len() as u64,
        text: text.into_bytes(),
        tail: b"# stop\t1\n",
        block: usize::MAX,
        at: 0,
    };
    let (memory, out) = peak(source, &["-f", "json"]);
    println!("{} MB of queries: {} MB of memory", size() / 1_000_000, memory / 1_000_000);
    assert!(memory < MEMORY, "{memory}");
    let last = super::text(&out).lines().last().map(str::to_owned).expect("a last line");
    let last: serde_json::Value = serde_json::from_str(&last).expect("JSON");
    assert_eq!(last["queries"].as_u64(), Some(times * 5000));
}

/// A file that unpacks to a thousand times its size streams like any other.
#[test]
fn a_gzip_bomb_streams() {
    let size = size().min(1_000_000_000);
    for text in [b"main;a 1\n".repeat(7000), vec![0; 1 << 16], b"\n".repeat(1 << 16)] {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(b"main;b 1\n").expect("memory can be written");
        let mut source = Generated { head: b"", text, size, tail: b"\nmain;c 1\n", block: usize::MAX, at: 0 };
        io::copy(&mut source, &mut packer).expect("memory can be written");
        let bytes = packer.finish().expect("memory can be written");
        let packed = bytes.len();
        let (memory, out) = peak(io::Cursor::new(bytes), &["--from", "folded", "-f", "folded"]);
        println!("{packed} bytes unpack to {size}: {} MB of memory", memory / 1_000_000);
        assert!(memory < MEMORY, "{memory}");
        assert!(super::text(&out).contains("main;b 1\n"), "{}", super::text(&out));
    }
}

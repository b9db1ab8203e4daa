//! Histograms, and the functions of `top`.

use seatrace::model::{Distribution, Function, Value};
use seatrace::units::Unit;

use crate::support::{add_stacks, key, show, stacks, trace};

#[test]
fn a_histogram_has_dtraces_shape_and_tells_its_quantiles() {
    let mut trace = trace();
    let series = trace.series(Some("latency"), Function::Quantize, Unit::Nanoseconds, &[key("query")], false);
    let sums = trace.series(Some("total"), Function::Sum, Unit::Nanoseconds, &[key("query")], false);
    let id = trace.names.text(b"SELECT\n1");
    let mut distribution = Distribution::new();
    for (low, count) in [(2048, 20), (4096, 40), (32768, 40)] {
        distribution.add(low, low * 2, count);
    }
    trace.row(series, &[id], &[], Value::Distribution(distribution));
    trace.row(sums, &[id], &[], Value::Number(1_700_000));
    trace.notes.info("seen");
    trace.finish();
    assert_eq!(
        show("hist", &trace, &[]),
        "latency  query=SELECT 1
      value (ns)  ------------- Distribution ------------- count
            1024 |                                         0
            2048 |@@@@@@@@                                 20
            4096 |@@@@@@@@@@@@@@@@                         40
            8192 |                                         0
           16384 |                                         0
           32768 |@@@@@@@@@@@@@@@@                         40
           65536 |                                         0
count 100, sum 1.700 ms, p50 4.096 us to 8.192 us, p95 32.768 us to 65.536 us, p99 32.768 us to 65.536 us
# note: seen
"
    );
}

#[test]
fn open_bounds_and_steps_of_lquantize() {
    let mut distribution = Distribution::new();
    distribution.add(i128::MIN, 0, 1);
    distribution.add(20, 30, 2);
    distribution.add(1000, i128::MAX, 1);
    let mut trace = trace();
    let series = trace.series(None, Function::Lquantize, Unit::Unknown, &[], false);
    trace.row(series, &[], &[], Value::Distribution(distribution));
    trace.finish();
    let text = show("hist", &trace, &[]);
    let shape: Vec<String> = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(shape[1], "< 0 |@@@@@@@@@@ 1");
    assert!(shape.contains(&"20 |@@@@@@@@@@@@@@@@@@@@ 2".into()), "{text}");
    assert!(shape.contains(&"... |".into()) && shape.contains(&">= 1000 |@@@@@@@@@@ 1".into()), "{text}");
    assert_eq!(shape.last().unwrap(), "count 4, p50 20 to 30, p95 >= 1,000, p99 >= 1,000");
}

#[test]
fn br_11_the_stack_of_a_histogram_stands_above_it() {
    let mut distribution = Distribution::new();
    distribution.add(512, 1024, 3);
    distribution.add(1024, 2048, 1);
    let mut trace = trace();
    add_stacks(
        &mut trace,
        Function::Quantize,
        Unit::Unknown,
        &[("db`main;db`leaf", Value::Distribution(distribution))],
    );
    trace.finish();
    let text = show("hist", &trace, &[]);
    assert!(text.starts_with("              db`leaf\n              db`main\n           value  ----"), "{text}");
    assert!(text.contains("             512 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@           3\n"), "{text}");
}

#[test]
fn top_counts_recursion_once() {
    let trace = stacks(Unit::Nanoseconds, &[("main;fib;fib;fib", 4_000), ("main;io", 6_000)]);
    assert_eq!(
        show("top", &trace, &[]),
        "# total 10.000 us
    SELF      %      TOTAL       %  FRAME
6.000 us  60.00   6.000 us   60.00  io
4.000 us  40.00   4.000 us   40.00  fib
       0   0.00  10.000 us  100.00  main
"
    );
    assert!(
        show("top", &trace, &["--top", "1"]).ends_with("# 2 more, together 4.000 us of their own: --top 0 shows all\n")
    );
}

//! Views that write records while they are read print the same as those that come at the end.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use seatrace::model::{Consumer, Query};
use seatrace::view;

use crate::support::{options, query, show, trace};

#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn records_are_sorted_by_time_in_every_view_of_them() {
    let mut both = trace();
    for (end, text) in [(2, "SELECT 'later'"), (1, "SELECT 'earlier'")] {
        both.query(Query { end: Some(end * 1_000_000_000), ..query(text) }).unwrap();
    }
    both.finish();
    for name in ["log", "json", "csv", "slowlog"] {
        for (arguments, is_sorted) in [(&[][..], false), (&["--sort", "time"], true)] {
            let text = show(name, &both, arguments);
            assert_eq!(text.find("earlier") < text.find("later"), is_sorted, "{name}: {text}");
        }
    }
}

#[test]
fn streams_print_what_the_whole_prints() {
    for (name, stream) in view::ALL.iter().filter_map(|view| Some((view.name, view.stream?))) {
        let out = Shared::default();
        let consumer: Box<dyn Consumer> = stream(&options(&[]), Box::new(out.clone()));
        let (mut streamed, mut whole) = (trace(), trace());
        streamed.stream_to(consumer);
        for (number, text) in ["SELECT 1", "", "SELECT \u{1b}\n 2"].into_iter().enumerate() {
            let query = Query { end: Some(1_000_000_000 * number as i64), ..query(text) };
            streamed.query(query.clone()).unwrap();
            whole.query(query).unwrap();
            // A log shows each record at once; what sums them up has to wait.
            if number == 0 && ["log", "json", "slowlog"].contains(&name) {
                streamed.idle().unwrap();
                assert!(String::from_utf8_lossy(&out.0.borrow()).contains("SELECT 1"), "{name}: nothing is held back");
            }
        }
        for trace in [&mut streamed, &mut whole] {
            trace.notes.info("seen");
            trace.finish();
        }
        assert!(streamed.finish_stream().unwrap());
        assert_eq!(String::from_utf8(out.0.borrow().clone()).unwrap(), show(name, &whole, &[]), "{name}");
    }
}

#[test]
fn a_log_is_written_in_large_pieces_and_none_is_lost() {
    struct Pieces(Rc<RefCell<Vec<Vec<u8>>>>);
    impl Write for Pieces {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().push(bytes.to_vec());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let text = "x".repeat(100);
    let stream = view::by_name("log").unwrap().stream.unwrap();
    // Ended as it should be, and left when reading fails.
    for is_finished in [true, false] {
        let pieces = Rc::new(RefCell::new(Vec::new()));
        let mut streamed = trace();
        streamed.stream_to(stream(&options(&[]), Box::new(Pieces(Rc::clone(&pieces)))));
        (0..10_000).for_each(|_| streamed.query(query(&text)).unwrap());
        if is_finished {
            streamed.finish_stream().unwrap();
        }
        drop(streamed);
        let pieces = pieces.borrow();
        let lines = pieces.concat().split(|&byte| byte == b'\n').filter(|line| line.ends_with(text.as_bytes())).count();
        assert!(lines == 10_000 && pieces.len() < 10, "{lines} lines, {} pieces", pieces.len());
    }
}

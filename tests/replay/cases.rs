//! Cases from practice, each named after its number.

use crate::support::{folded, notes, read};

mod dump_example {
    use super::*;

    #[test]
    fn records_of_the_specification() {
        let trace = read(include_bytes!("../data/dump/example-1.dump"));
        let query = &trace.queries[0];
        assert_eq!(query.end, Some(1796035992790984277));
        assert_eq!(query.who(), "app@web1");
        assert_eq!(query.elapsed, Some(162345));
        assert_eq!(query.text, "SELECT name\n  FROM customers");
        assert_eq!(trace.heading.zone, Some(3 * 3600 + 1200));
        assert_eq!(notes(&trace), "");
    }

    #[test]
    fn aggregation_of_the_specification() {
        let input = include_bytes!("../data/dump/example-2.dump");
        assert_eq!(folded(input), "mariadbd;mariadbd`handle_one_connection;libc.so.6`pthread_cond_wait 48230771\n");
        assert_eq!(notes(&read(input)), "no `# stop`: the dump was cut short (input:8)\n");
    }
}

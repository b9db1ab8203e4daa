//! Fingerprints: the cases, laws, and pt-fingerprint beside ours.

use seatrace::sql::fingerprint;

#[test]
fn br_25_no_part_of_a_literal_stays() {
    assert_eq!(
        fingerprint(r#"select * from u where n='it''s' and m="a\"b" and k='é'"#),
        "select * from u where n=? and m=? and k=?"
    );
}

#[test]
fn br_24_binary_strings_are_literals() {
    assert_eq!(fingerprint("insert into b values (x'', _binary'\u{fffd}\u{fffd}''z')"), "insert into b values(?+)");
}

#[test]
fn br_70_lists_of_any_length_are_one_class() {
    assert_eq!(
        fingerprint("select a from t where b in (1, null, -2, 1e3) or (c,d) in ((1,2),(3,4)) limit 10, 20"),
        "select a from t where b in(?+) or (c,d) in((?+)) limit ?"
    );
}

#[test]
fn br_71_odd_statements() {
    assert_eq!(fingerprint("insert into a values(1)"), "insert into a values(?+)");
    assert_eq!(fingerprint("select '' '' ''"), "select ?");
    assert_eq!(fingerprint("select 'abc"), "select ?...");
    assert_eq!(fingerprint(";"), "");
    assert_eq!(fingerprint(""), "");
}

#[test]
fn forms() {
    for (text, expected) in [
        ("SELECT  a,\n\tb FROM t1 -- note\nWHERE x = -5 AND y=a-5", "select a, b from t1 where x = ? and y=a-?"),
        ("select /*+ hint(t) */ 1", "select ?"),
        ("select /*!40001 SQL_NO_CACHE */ * from `T`", "select sql_no_cache * from `t`"),
        (
            "insert into t values (1,'a'),(2,'b') , (3, now()) on duplicate key update a=values(a), b=values(b)",
            "insert into t values(?+) on duplicate key update a=values(a), b=values(b)",
        ),
        ("insert into t (a) values (now(), 1), (now(), 2)", "insert into t (a) values (now(), ?)"),
        ("select a from t order by a asc, b ASC limit 5 offset 10", "select a from t order by a, b limit ?"),
        ("call shop.p(1, 'x')", "call shop.p"),
        ("use shop", "use ?"),
        ("select a from t where b in (1, 2, 3", "select a from t where b in(?+)..."),
        ("insert into t values (1,2),(3", "insert into t values(?+)..."),
        ("insert into t values (1,2), ", "insert into t values(?+),"),
        ("select 5--5, 1 - -1, @a-1, N'x', 0x1F, b'01'", "select ?-?, ? - ?, @a-?, ?, ?, ?"),
        ("select f(1, 2), 2nd.a, t.1x from 2nd", "select f(?, ?), 2nd.a, t.1x from 2nd"),
        ("set @a = 'x', @@global.y = 5", "set @a = ?, @@global.y = ?"),
        ("select 1 union select 2;  ", "select ? union select ?"),
        (
            "select * from t where a is not null and b in (select 1)",
            "select * from t where a is not ? and b in (select ?)",
        ),
        ("grant all on *.* to 'u'@'h' identified by 'secret'", "grant all on *.* to ?@? identified by ?"),
    ] {
        assert_eq!(fingerprint(text), expected, "{text}");
    }
}

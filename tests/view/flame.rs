//! Flame graphs: what stands in the SVG, and that it is well-formed whatever names hold.

use quick_xml::Reader;
use quick_xml::events::Event;
use seatrace::model::{Function, Value};
use seatrace::units::Unit;

use crate::support::{show, stacks, trace};

/// Tooltips of all boxes, in the order of the file; fails unless the whole file is well-formed.
fn tooltips(svg: &str) -> Vec<String> {
    let mut reader = Reader::from_str(svg);
    let (mut found, mut inside) = (Vec::new(), false);
    loop {
        match reader.read_event().unwrap() {
            Event::Eof => return found,
            Event::Start(tag) if tag.name().as_ref() == "title" => {
                inside = true;
                found.push(String::new());
            }
            Event::End(tag) if tag.name().as_ref() == "title" => inside = false,
            Event::Text(text) if inside => found.last_mut().unwrap().push_str(&text),
            Event::GeneralRef(reference) if inside => {
                let name: &str = &reference;
                let text = quick_xml::escape::unescape(&format!("&{name};")).unwrap().into_owned();
                found.last_mut().unwrap().push_str(&text);
            }
            _ => {}
        }
    }
}

#[test]
fn boxes_tell_total_and_self_with_their_unit() {
    let trace = stacks(Unit::Nanoseconds, &[("main;a", 3_000_000), ("main", 1_000_000)]);
    let svg = show("flame", &trace, &["--title", "off-cpu"]);
    let mut tips = tooltips(&svg);
    tips.sort();
    assert_eq!(
        tips,
        ["a (3.000 ms, 75.00%)", "all (4.000 ms, 100.00%; self 0)", "main (4.000 ms, 100.00%; self 1.000 ms, 25.00%)"]
    );
    assert!(svg.contains(">off-cpu</text>") && svg.contains(">total 4.000 ms</text>"));
}

#[test]
fn br_47_narrow_frames_are_one_grey_box() {
    let names: Vec<String> = (1..=1000).map(|number| format!("main;x{number}")).collect();
    let rows: Vec<(&str, i128)> = names.iter().map(|name| (name.as_str(), 1)).collect();
    let svg = show("flame", &stacks(Unit::Samples, &rows), &["--width", "1200", "--minwidth", "2"]);
    let tips = tooltips(&svg);
    assert_eq!(tips.len(), 3);
    assert!(tips.contains(&"1,000 frames (1,000 samples, 100.00%)".into()));
    assert!(tips.contains(&"main (1,000 samples, 100.00%; self 0)".into()));
    assert!(svg.contains("hidden in grey: 1,000 narrow frames, 100.00%"));
    // At the usual limit of 0.1 pixel each is drawn, and main still has no time of its own.
    assert_eq!(tooltips(&show("flame", &stacks(Unit::Samples, &rows), &["--width", "1200"])).len(), 1002);
}

#[test]
fn br_30_hostile_names_make_well_formed_xml() {
    let hostile = [
        "f\u{1b}x<T>\"q\"&amp",
        "</script><script>alert(1)</script>",
        "]]>",
        "\0\u{1}\u{fffe}\u{ffff}",
        "\u{202e}gnirts",
        "-->",
        "'\"",
        "f_[k]",
        "--",
        "all",
        "00000002 (x",
        "</title>",
        "&#0;",
    ];
    let mut trace = trace();
    let series = trace.series(None, Function::Count, Unit::Other("\u{1b}<b>".into()), &[], true);
    for (index, name) in hostile.iter().enumerate() {
        let ids = [trace.names.text(b"root"), trace.names.text(name.as_bytes())];
        trace.row(series, &[], &ids, Value::Number(index as i128 + 1));
    }
    let long = "x".repeat(1 << 20);
    let ids = [trace.names.text(b"root"), trace.names.text(long.as_bytes())];
    trace.row(series, &[], &ids, Value::Number(40));
    trace.heading.title = Some("</svg>\u{1b}]]>--".into());
    trace.notes.loss("lost --> & <b>", Some("a\u{7}:1".into()));
    trace.finish();
    for view in ["flame", "icicle"] {
        let svg = show(view, &trace, &["--notes=-- -->", "--nametype", "'</script>]]>", "--fonttype", "x}</style>"]);
        let tips = tooltips(&svg);
        assert_eq!(tips.len(), hostile.len() + 3);
        assert!(svg.len() < 100_000, "a long name stands in the file once a box, cut: {}", svg.len());
        let is_harmless = |c: char| c == '\n' || !c.is_control() && !('\u{202a}'..='\u{202e}').contains(&c);
        assert!(svg.chars().all(is_harmless));
        assert_eq!(svg.matches("</script>").count(), 1);
        assert_eq!(svg.matches("]]>").count(), 2);
        assert!(tips.iter().any(|tip| tip.starts_with("f\\x1bx<T>\"q\"&amp (1 \\x1b<b>, ")), "{tips:?}");
        assert!(tips.iter().any(|tip| tip.starts_with("f_[k] (")));
    }
}

#[test]
fn pictures_are_the_same_every_time_and_colours_belong_to_names() {
    let one = show("flame", &stacks(Unit::Count, &[("a;b", 1), ("a;c", 2)]), &[]);
    assert_eq!(one, show("flame", &stacks(Unit::Count, &[("a;c", 2), ("a;b", 1)]), &[]));
    let fill = |svg: &str, name: &str| {
        let tail = svg.split_once(&format!("<title>{name} (")).unwrap().1;
        tail.split_once("fill=\"").unwrap().1.split_once('"').unwrap().0.to_owned()
    };
    let two = show("flame", &stacks(Unit::Count, &[("z;q;b", 1), ("z;c", 9)]), &[]);
    assert_eq!(fill(&one, "b"), fill(&two, "b"));
    assert_ne!(fill(&one, "b"), fill(&one, "c"));
    assert_ne!(fill(&one, "b"), fill(&show("flame", &stacks(Unit::Count, &[("b", 1)]), &["--colors", "blue"]), "b"));
}

#[test]
fn weights_of_boxes_add_up() {
    let rows = [("a;b;c", 5), ("a;b", 7), ("a;d", 11), ("e", 13)];
    for arguments in [&[][..], &["--reverse"], &["--inverted"], &["--minwidth", "400"]] {
        let svg = show("flame", &stacks(Unit::Samples, &rows), arguments);
        let tips = tooltips(&svg);
        assert!(tips.contains(&"all (36 samples, 100.00%; self 0)".into()), "{arguments:?}: {tips:?}");
    }
    let reversed = tooltips(&show("flame", &stacks(Unit::Samples, &rows), &["--reverse"]));
    assert!(reversed.contains(&"b (7 samples, 19.44%; self 0)".into()), "{reversed:?}");
}

#[test]
fn deep_stacks_are_drawn() {
    let drawn = |depth: usize| {
        let path = vec!["f"; depth].join(";");
        show("flame", &stacks(Unit::Samples, &[(&path, 1)]), &[])
    };
    assert_eq!(tooltips(&drawn(1500)).len(), 1501);
    // A picture ends 2,000 frames above the root; the rest is one box, which is said.
    let cut = drawn(3000);
    assert_eq!(tooltips(&cut).len(), 2002);
    assert!(cut.contains("deeper than 2000"), "not said");
}

//! The rules for names, each on the names that taught it.

use super::Cleaner;

#[track_caller]
fn check(raw: &str, expected: &str) {
    let cleaned = Cleaner::default().clean(raw).text.into_owned();
    assert_eq!(cleaned, expected, "{raw}");
}

#[track_caller]
fn with_params(raw: &str, expected: &str) {
    let cleaner = Cleaner { params: true, ..Cleaner::default() };
    assert_eq!(cleaner.clean(raw).text, expected, "{raw}");
}

#[test]
fn br_08_last_parameter_list_goes() {
    check("db`std::function<void (int)>::operator()(int) const+0x1", "db`std::function<void (int)>::operator()");
    check("db`(anonymous namespace)::plan(Item*)+0x2", "db`(anonymous namespace)::plan");
    check("db`do_command(THD*)+0x3", "db`do_command");
    with_params("db`do_command(THD*)+0x3", "db`do_command(THD*)");
    with_params("db`f(int) const+0x1", "db`f(int) const");
    with_params("db`(anonymous namespace)::plan(Item*)+0x2", "db`(anonymous namespace)::plan(Item*)");
}

#[test]
fn names_that_end_in_a_parenthesis_of_their_own() {
    check("db`A::operator()", "db`A::operator()");
    check("db`A::operator()()", "db`A::operator()");
    check("db`A::myoperator()", "db`A::myoperator");
    check("db`operator()", "db`operator()");
    check("db`f(int)::{lambda(char)#1}::operator()(char) const", "db`f(int)::{lambda(char)#1}::operator()");
    check("db`f(void (*)(int), int (&) [3])", "db`f");
    check("db`g<&(h(int))>(int) volatile &&", "db`g<&(h(int))>");
    check("db`(anonymous namespace)", "db`(anonymous namespace)");
    check("py`eval (jobs.py:3)", "py`eval (jobs.py:3)");
    check("db`-[Shop open:for:]", "db`-[Shop open:for:]");
    check("db`a)b(c)", "db`a)b");
    check("db`)", "db`)");
    check("db`()", "db`()");
}

#[test]
fn mangled_and_demangled_get_one_name() {
    check("db`_ZN3THD5awakeE11killed_state+0x4", "db`THD::awake");
    check("db`THD::awake(killed_state)+0x4", "db`THD::awake");
    check("db`_Z16dispatch_command19enum_server_commandP3THDPcjb.constprop.0+0x1", "db`dispatch_command");
    check("db`__Z10do_commandP3THDb+0x1", "db`do_command");
    check("db`_ZNK8JOIN_TAB7cleanupEv.part.0.cold", "db`JOIN_TAB::cleanup");
    check("db`_ZNSt6vectorIiSaIiEE9push_backEOi", "db`std::vector<int, std::allocator<int> >::push_back");
    with_params("db`_Z10do_commandP3THDb+0x1", "db`do_command(THD*, bool)");
    check("db`_ZNotAName+0x1", "db`_ZNotAName");
}

#[test]
fn clones_are_the_function() {
    check("db`row_search.part.0+0x3", "db`row_search");
    check("db`row_search.isra.0.constprop.12+0x3", "db`row_search");
    check("db`THD::awake(int) [clone .part.0] [clone .cold]", "db`THD::awake");
    check("db`f.llvm.1729534234+0x3", "db`f");
    check("db`f.lto_priv.0", "db`f");
    check("db`main.1.2", "db`main.1.2");
    check("node`lib.js", "node`lib.js");
    check("db`.cold", "db`.cold");
}

#[test]
fn br_10_offsets_only_at_the_end_of_their_frame() {
    check("db`leaf", "db`leaf");
    check("db`mid+0x10", "db`mid");
    check("db`operator+0xg", "db`operator+0xg");
    check("db`a+0x1b+0x2", "db`a+0x1b");
    let cleaner = Cleaner { offsets: true, ..Cleaner::default() };
    assert_eq!(cleaner.clean("db`leaf").text, "db`leaf");
    assert_eq!(cleaner.clean("db`mid+0x10").text, "db`mid+0x10");
    assert_eq!(cleaner.clean("db`f(int)+0x10").text, "db`f+0x10");
}

#[test]
fn br_13_addresses_merge() {
    for (raw, expected) in [
        ("0x18bc3d388", "[unknown]"),
        ("db`0x1a2b", "db`[unknown]"),
        ("libc.so.6`0x7f0012+0x3", "libc.so.6`[unknown]"),
        ("libc.so.6:0x2a1b", "libc.so.6`[unknown]"),
        ("[unknown]", "[unknown]"),
        ("db`[unknown]", "db`[unknown]"),
    ] {
        let cleaned = Cleaner::default().clean(raw);
        assert_eq!(cleaned.text, expected);
        assert!(cleaned.unresolved, "{raw}");
        let keep = Cleaner { addresses: true, ..Cleaner::default() };
        assert_eq!(keep.clean(raw).text, raw);
        assert!(keep.clean(raw).unresolved);
    }
    assert!(!Cleaner::default().clean("db`main+0x8").unresolved);
    assert!(!Cleaner::default().clean("db`x0x12").unresolved);
}

#[test]
fn br_42_rust_names() {
    check(
        "shop`_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..clone..Clone$GT$::clone::h0123456789abcdef+0x1a",
        "shop`<alloc::vec::Vec<T> as core::clone::Clone>::clone",
    );
    check("shop`_ZN4core3fmt5write17h0123456789abcdefE+0x1", "shop`core::fmt::write");
    check("shop`core::fmt::write::h0123456789abcdef+0x1", "shop`core::fmt::write");
    check("shop`_RNvCs1234_7mycrate3foo+0x1", "shop`mycrate::foo");
    let cleaner = Cleaner { hashes: true, ..Cleaner::default() };
    assert_eq!(cleaner.clean("s`_ZN1a1b17h0123456789abcdefE").text, "s`a::b::h0123456789abcdef");
    assert_eq!(cleaner.clean("s`a::b::h0123456789abcdef").text, "s`a::b::h0123456789abcdef");
}

#[test]
fn br_44_java_names() {
    check("Lshop/Db;::query", "shop/Db::query");
    check("Lshop/Db;::query->Lshop/Net;::send_[i]", "shop/Db::query->shop/Net::send_[i]");
}

#[test]
fn annotations_stay_with_their_frame() {
    check("db`vm_run(int)+0x4", "db`vm_run");
    check("db`vm_run+0x4 [/app/jobs.sql:42]", "db`vm_run [/app/jobs.sql:42]");
    check("<< internal >>", "<< internal >>");
    check("LM1`libc.so.1`malloc+0x1", "LM1`libc.so.1`malloc");
}

#[test]
fn hostile_names_cost_little() {
    let million = 1 << 20;
    let nested = format!("db`{}{}", "(".repeat(million), ")".repeat(million));
    check(&nested, &nested);
    let templates = format!("db`_Z1f{}{}", "I".repeat(million), "E".repeat(million));
    check(&templates, &templates);
    let clones = format!("db`f{}", ".part.0".repeat(50_000));
    check(&clones, "db`f");
    // Each substitution doubles the readable name.
    let doubling = format!("_Z1f{}", "1XIS_S_E".repeat(60));
    assert!(Cleaner::default().clean(&doubling).text.len() <= 70 << 10);
    // Found by fuzzing: no name, but every template in it can be read in two ways.
    let twofold = "_Z12mysql_insertzP3THDP10TAEICT_LSLR4ListI4ItemERS2_IS5_I4mSRE2_IS5_stI4ItemERS2_IS5_I4mERS2_IS5_IS5_I4ListI4ItemERS2_IS5_\
                   I4mSRE2_IS5_stI4ItemERS2_IS5_I4mERS2_IS5_IS5_I4tIf4DeoItemERS2_IS5_ItIf4DeoItemERS2_IS5_I4REeImtS2_IS5_insmSRE2_IS5_stI4ItemERS2_ISe";
    let begin = std::time::Instant::now();
    check(twofold, twofold);
    assert!(begin.elapsed() < std::time::Duration::from_secs(2), "{:?}", begin.elapsed());
    let deep = format!("_Z1fPF{}", "PFv".repeat(2000));
    assert!(Cleaner::default().clean(&deep).text.len() <= 70 << 10);
    let rust = format!("_RNv{}", "INvC1a1b".repeat(1500));
    assert!(Cleaner::default().clean(&rust).text.len() <= 70 << 10);
    for raw in
        ["", "`", "``", "+0x", "+0x1", "0x", ":0x1", "db`", "L;::", "_ZN", "_R", "::h0123456789abcdef", "é`ü+0x1"]
    {
        Cleaner::default().clean(raw);
    }
}

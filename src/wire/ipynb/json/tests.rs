use super::*;

fn printed(text: &str) -> String {
    parse(text, 100).map_or_else(|failure| format!("{failure:?}"), |(value, _)| value.compact())
}

#[test]
fn numbers_are_python_s_when_nothing_is_lost() {
    let cases = [
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("-0", "0"),
        ("-0.0", "-0.0"),
        ("1e5", "100000.0"),
        ("1E16", "1e+16"),
        ("0.00001", "1e-05"),
        ("0.0001", "0.0001"),
        ("1.50", "1.5"),
        ("123456789012345680.0", "1.2345678901234568e+17"),
        ("5e-324", "5e-324"),
        ("0.1000000000000000055511151231257827", "0.1000000000000000055511151231257827"),
        ("1e-400", "1e-400"),
        ("1e400", "null"),
        ("-Infinity", "null"),
        ("NaN", "null"),
        ("0e999999999999999999999", "0.0"),
        ("9007199254740993.0", "9007199254740993.0"),
    ];
    for (text, expected) in cases {
        assert_eq!(printed(text), expected, "{text}");
    }
}

#[test]
fn broken_json_is_refused_where_it_breaks() {
    let cases = [
        ("{", 1),
        ("[1,]", 3),
        ("[1 2]", 3),
        ("01", 1),
        ("1.", 1),
        ("-", 1),
        ("{\"a\" 1}", 5),
        ("{a:1}", 1),
        ("\"\n\"", 1),
        ("\"\\x\"", 2),
        ("\"\\u12G4\"", 3),
        ("nul", 0),
        ("[] x", 3),
        ("\"abc", 4),
        ("\"\\", 2),
        ("'a'", 0),
    ];
    for (text, expected) in cases {
        let Err(ParseFailure::Syntax { at, .. }) = parse(text, 100) else { panic!("{text} was accepted") };
        assert_eq!(at, expected, "{text}");
    }
}

#[test]
fn strings_mend_half_surrogates_and_print_as_python_does() {
    assert_eq!(
        printed(r#""\ud83d\ude00 \ud800 \udc00\ud83dx \ud800A""#),
        "\"😀 \u{fffd} \u{fffd}\u{fffd}x \u{fffd}A\""
    );
    assert_eq!(
        printed(r#""\u0000\b\f\n\r\t\"\\\/\u007f\u2028é""#),
        "\"\\u0000\\b\\f\\n\\r\\t\\\"\\\\/\u{7f}\u{2028}é\""
    );
}

#[test]
fn depth_is_limited_without_a_stack_overflow() {
    assert_eq!(parse(&"[".repeat(1_000_000), 100).err(), Some(ParseFailure::TooDeep));
    assert!(parse(&format!("{}{}", "[".repeat(100), "]".repeat(100)), 100).is_ok());
}

#[test]
fn the_last_of_equal_keys_counts() {
    let (value, repairs) = parse(r#"{"a":1,"a":2}"#, 9).expect("valid");
    assert_eq!((value.compact().as_str(), repairs.duplicate_keys), (r#"{"a":2}"#, 1));
}

//! The text of a cursor.

use super::super::*;

#[test]
fn a_cursor_survives_its_text_and_nothing_else_is_one() {
    let cursor = TurnCursor { version: 57, count: 1_000 };
    assert_eq!(cursor.to_string(), "57-1000");
    assert_eq!(TurnCursor::parse("57-1000"), Some(cursor));
    for bad in ["", "57", "57-", "-1", "x-1", "57-1-2", "57.1", "57--1"] {
        assert_eq!(TurnCursor::parse(bad), None, "{bad}");
    }
}

//! Laws of the comparison for arbitrary outputs.

use notarium_comparison::{compare, text};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Texts made of noise, parts of noise and data, so that placeholders meet what they could complete.
fn texts() -> impl Strategy<Value = String> {
    let pieces = [
        "0x7f3a2b1c9d30",
        "0x",
        "5",
        " s",
        "s",
        " ms",
        "12:30:45",
        ":",
        "2026-11-29",
        " ",
        "T",
        "09:18",
        "/tmp/a",
        "/",
        "tmp/",
        "123e4567-e89b-12d3-a456-426614174000",
        "-",
        "\n",
        "1796000000",
        ".5",
        "it/s",
        "<",
        "⟨time⟩",
        "e",
        "a",
        "1,000 loops each",
        "Sun Nov 29 09:18:25 2026",
        "µs",
        "\u{1b}[31m",
        "\r",
        "é",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..12).prop_map(|pieces| pieces.concat())
}

fn outputs() -> impl Strategy<Value = Vec<Value>> {
    let data = prop::sample::select(vec!["text/plain", "text/html", "image/png", "image/svg+xml", "application/json"]);
    let output = prop_oneof![
        (any::<bool>(), texts()).prop_map(|(is_error, text)| {
            json!({"output_type": "stream", "name": if is_error { "stderr" } else { "stdout" }, "text": text})
        }),
        (data, texts()).prop_map(|(mime, text)| json!({"output_type": "display_data", "data": {mime: text}})),
        texts().prop_map(|text| json!({"output_type": "error", "ename": "E", "evalue": text, "traceback": [text]})),
        texts().prop_map(|text| {
            let html = format!("<table><tr><td>{text}<td>1</tr></table>");
            json!({"output_type": "execute_result", "data": {"text/html": html}})
        }),
    ];
    prop::collection::vec(output, 0..5)
}

proptest! {
    #[test]
    fn normalising_twice_changes_nothing(text in texts()) {
        let once = text::normalised(&text).text;
        prop_assert_eq!(text::normalised(&once).text, once);
    }

    #[test]
    fn equal_outputs_are_the_same(outputs in outputs()) {
        prop_assert!(compare(&outputs, &outputs).is_same());
    }

    #[test]
    fn both_directions_agree(ours in outputs(), theirs in outputs()) {
        prop_assert_eq!(compare(&ours, &theirs).is_same(), compare(&theirs, &ours).is_same());
    }

    #[test]
    fn pieces_of_a_stream_do_not_count(pieces in prop::collection::vec("[a-z \n]{0,8}", 0..6)) {
        let piece = |text: &String| json!({"output_type": "stream", "name": "stdout", "text": text});
        let (many, one): (Vec<Value>, _) = (pieces.iter().map(piece).collect(), piece(&pieces.concat()));
        prop_assert!(compare(&many, &[one]).is_same());
    }
}

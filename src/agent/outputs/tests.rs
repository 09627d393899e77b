use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use notarium_terminal::{folded, folded_plain};

fn stdout(text: &str) -> KernelOutput {
    KernelOutput::Stream { name: "stdout".into(), text: text.into() }
}

fn stderr(text: &str) -> KernelOutput {
    KernelOutput::Stream { name: "stderr".into(), text: text.into() }
}

fn display(text: &str, display_id: Option<&str>) -> KernelOutput {
    let output = raw(&json!({"output_type": "display_data", "data": {"text/plain": text}, "metadata": {}}));
    KernelOutput::Object { output, display_id: display_id.map(str::to_owned) }
}

fn error(message: &str) -> KernelOutput {
    let output = raw(&json!({"output_type": "error", "ename": "E", "evalue": message, "traceback": []}));
    KernelOutput::Object { output, display_id: None }
}

fn update(display_id: &str, text: &str) -> KernelOutput {
    KernelOutput::Update {
        display_id: display_id.into(),
        content: raw(&json!({"data": {"text/plain": text}, "metadata": {}})),
    }
}

/// Formats emits: `out:text`, `err:text`, `[shown]`, `id=shown`, `clear`, `overflow:text`.
fn brief(emits: Vec<OutputChange>) -> Vec<String> {
    emits.into_iter().map(brief_one).collect()
}

fn brief_one(emit: OutputChange) -> String {
    match emit {
        OutputChange::Clear => "clear".into(),
        OutputChange::Overflow(bytes) => format!("overflow:{}", String::from_utf8_lossy(&bytes)),
        OutputChange::Update { display_id, object } => format!("{display_id}={}", shown(object)),
        OutputChange::Append { object, .. } => shown(object),
    }
}

/// The object with its large parts put back at their pointers.
pub(super) fn whole_again(object: OutputObject) -> Value {
    let mut whole: Value = serde_json::from_str(object.output.get()).unwrap();
    for LargePart { blob, bytes } in object.large_parts {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let (place, name) = blob.pointer.rsplit_once('/').unwrap();
        let value = if blob.json { serde_json::from_str(&text).unwrap() } else { Value::String(text) };
        whole.pointer_mut(place).unwrap()[name.replace("~1", "/").replace("~0", "~")] = value;
    }
    whole
}

fn shown(object: OutputObject) -> String {
    let value = whole_again(object);
    let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    match value["output_type"].as_str() {
        Some("stream") => format!("{}:{}", &text(&value["name"])[3..], text(&value["text"])),
        Some("error") => format!("error:{}", text(&value["evalue"])),
        Some(_) => format!("[{}]", text(&value["data"]["text/plain"])),
        None => text(&value["data"]["text/plain"]),
    }
}

fn collector() -> OutputCollector {
    OutputCollector::new(OutputLimits::default())
}

fn limited(max_log_bytes: u64, max_log_lines: u64, max_overflow_bytes: u64) -> OutputCollector {
    OutputCollector::new(OutputLimits { max_log_bytes, max_log_lines, max_overflow_bytes, ..OutputLimits::default() })
}

/// Feeds `outputs` at the same instant, all but the first while busy, and returns everything emitted.
fn run(mut collector: OutputCollector, outputs: impl IntoIterator<Item = KernelOutput>) -> Vec<String> {
    let mut emits = Vec::new();
    for output in outputs {
        emits.extend(collector.handle(0, output));
    }
    emits.extend(collector.finish(0));
    brief(emits)
}

#[test]
fn first_output_is_emitted_at_once_and_the_next_ones_together() {
    let mut collector = collector();
    assert_eq!(brief(collector.handle(1000, stdout("a\n"))), ["out:a\n"]);
    assert_eq!(collector.deadline(), None);
    assert!(collector.handle(1001, stdout("b\n")).is_empty());
    assert!(collector.handle(1049, stdout("c\n")).is_empty());
    assert_eq!(collector.deadline(), Some(1050));
    assert!(collector.tick(1049).is_empty());
    assert_eq!(brief(collector.tick(1050)), ["out:b\nc\n"]);
    assert_eq!(collector.deadline(), None);
    assert_eq!(brief(collector.handle(1101, stdout("d"))), ["out:d"]);
}

#[test]
fn a_full_piece_does_not_wait() {
    let mut collector = collector();
    collector.handle(0, stdout("first"));
    let emits = brief(collector.handle(1, stdout(&"x".repeat(64 << 10))));
    assert_eq!(emits, [format!("out:{}", "x".repeat(64 << 10))]);
}

#[test]
fn long_text_is_cut_in_pieces_at_characters() {
    let text = "é".repeat(100_000);
    let emits = run(collector(), [stdout("a"), stdout(&text)]);
    assert!(emits.iter().all(|emit| emit.len() <= (64 << 10) + 8), "longest {:?}", emits.iter().map(String::len).max());
    assert_eq!(emits.iter().map(|emit| &emit[4..]).collect::<String>(), format!("a{text}"));
}

#[test]
fn streams_keep_their_order() {
    let emits = run(collector(), [stdout("1"), stdout("2"), stderr("3"), stdout("4"), display("5", None), stdout("6")]);
    assert_eq!(emits, ["out:1", "out:2", "err:3", "out:4", "[5]", "out:6"]);
}

#[test]
fn progress_bars_collapse_over_messages() {
    let bars = (0..100).map(|percent| stderr(&format!("\r{percent}%")));
    assert_eq!(run(collector(), bars), ["err:0%", "err:\r99%"]);
}

#[test]
fn streams_are_folded_as_a_terminal_shows_them() {
    for (written, shown) in [
        ("downloading a rather long file name\r\u{1b}[Kdone\n", "out:done\n"),
        ("working on it for long\u{1b}[2K\rshort\n", "out:short\n"),
        ("\u{1b}[2K\r\u{1b}[36m⠙\u{1b}[0m resolving\u{1b}[2K\rResolved 3 packages\n", "out:Resolved 3 packages\n"),
        ("outer 1\ninner 1\u{1b}[A\router 2\n\rinner 2\n", "out:outer 2\ninner 2\n"),
    ] {
        assert_eq!(run(collector(), [stdout(written)]), [shown], "{written:?}");
    }
    let bars = ["outer 1\ninner 1\u{1b}[A", "\router 2\n\rinner 2\n"].map(stdout);
    assert_eq!(folded(&run(collector(), bars).join("").replace("out:", "")), "outer 2\ninner 2\n");
}

#[test]
fn clear_drops_what_waits_but_no_updates() {
    let outputs =
        [stdout("sent"), stdout("waits"), update("x", "kept"), KernelOutput::Clear { wait: false }, stdout("new")];
    assert_eq!(run(collector(), outputs), ["out:sent", "clear", "x=kept", "out:new"]);
}

#[test]
fn clear_with_wait_comes_with_the_next_output_only() {
    let wait = || KernelOutput::Clear { wait: true };
    assert_eq!(run(collector(), [stdout("a"), wait()]), ["out:a"]);
    assert_eq!(run(collector(), [stdout("a"), wait(), update("x", "1")]), ["out:a", "x=1"]);
    assert_eq!(run(collector(), [stdout("a"), wait(), stdout("b")]), ["out:a", "clear", "out:b"]);
    let frames = (0..50).flat_map(|frame| [wait(), display(&frame.to_string(), None)]);
    assert_eq!(run(collector(), frames), ["clear", "[0]", "clear", "[49]"]);
}

#[test]
fn the_last_update_wins_and_follows_what_was_displayed() {
    let outputs =
        [display("0", Some("x")), update("x", "1"), display("again", Some("x")), update("y", "5"), update("x", "2")];
    assert_eq!(run(collector(), outputs), ["[0]", "[again]", "y=5", "x=2"]);
}

#[test]
fn display_id_is_given_beside_the_output() {
    let emits = collector().handle(0, display("0", Some("x")));
    assert!(matches!(&emits[..], [OutputChange::Append { display_id: Some(id), .. }] if id == "x"));
}

#[test]
fn beyond_the_line_limit_there_is_one_notice_and_the_overflow() {
    let lines = (0..6).map(|line| stdout(&format!("{line}\n")));
    let emits = run(limited(1000, 3, 1000), lines);
    assert_eq!(emits[0], "out:0\n");
    assert_eq!(emits[1], "out:1\n2\n");
    assert!(emits[2].contains("3 lines recorded") && emits[2].contains("or 3 lines"), "{}", emits[2]);
    assert_eq!(emits[3..], ["overflow:3\n4\n5\n"]);
}

#[test]
fn a_screen_that_is_drawn_again_and_again_keeps_the_notice() {
    let mut collector = limited(1000, 3, 1000);
    let mut emits = Vec::new();
    for (frame, at) in (0..6).map(|frame| (frame, frame * 1_000)) {
        emits.extend(collector.handle(at, KernelOutput::Clear { wait: true }));
        emits.extend(collector.handle(at, stdout(&format!("{frame}\n"))));
    }
    emits.extend(collector.finish(6_000));
    let emits = brief(emits);
    let notice = emits.iter().position(|emit| emit.contains("3 lines recorded")).unwrap();
    assert!(!emits[notice..].contains(&"clear".to_owned()), "{emits:?}");
    assert_eq!(emits.iter().filter(|emit| *emit == "clear").count(), 4);
}

#[test]
fn beyond_the_overflow_the_dropped_bytes_are_counted() {
    let emits = run(limited(4, 100, 6), [stdout("0123456789abcdef")]);
    assert_eq!(emits[0], "out:0123");
    assert_eq!(emits[2], "overflow:456789");
    assert!(emits[3].contains("6 bytes of output after it were dropped"), "{}", emits[3]);
    assert_eq!(emits.len(), 4);
}

#[test]
fn an_error_is_recorded_even_when_the_log_is_full() {
    let emits = run(limited(4, 100, 1000), [stdout("0123456789"), display("gone", None), error("why")]);
    assert_eq!(emits.last().unwrap(), "error:why");
    assert!(emits.iter().any(|emit| emit.starts_with("overflow:{") && emit.contains("gone")));
}

#[test]
fn large_displays_count_as_blobs_not_as_log() {
    let mut collector = limited(1000, 100, 0);
    let emits = collector.handle(0, display(&"x".repeat(50 << 20), None));
    let [OutputChange::Append { object, .. }] = &emits[..] else { panic!("{} emits", emits.len()) };
    assert_eq!(object.large_parts[0].bytes.len(), 50 << 20);
    assert!(object.output.get().len() < 100);
    assert!(!collector.tally.limit_reached);
}

#[test]
fn what_comes_after_the_end_is_still_taken() {
    let mut collector = collector();
    collector.handle(0, stdout("a\n"));
    assert!(collector.finish(1).is_empty());
    assert!(collector.handle(2, stdout("late")).is_empty());
    assert_eq!(brief(collector.tick(50)), ["out:late"]);
}

#[test]
fn flood_of_small_prints_is_cheap() {
    let mut collector = OutputCollector::new(OutputLimits { max_log_lines: u64::MAX, ..OutputLimits::default() });
    let (mut emits, mut bytes) = (0, 0);
    for line in 0..200_000u64 {
        for emit in collector.handle(line / 100, stdout(&format!("line {line}\n"))) {
            emits += 1;
            bytes += brief_one(emit).len() - 4;
        }
    }
    bytes += brief(collector.finish(u64::MAX)).iter().map(|emit| emit.len() - 4).sum::<usize>();
    assert_eq!(bytes, (0..200_000).map(|line| format!("line {line}\n").len()).sum::<usize>());
    assert!(emits < 100, "{emits} emits");
}

fn any_output() -> impl Strategy<Value = KernelOutput> {
    prop_oneof![
        4 => ("std(out|err)", "([ab\n\r\u{8}é日]|\u{1b}\\[[0-3]?[ABCDGKXm]){0,12}").prop_map(|(name, text)| KernelOutput::Stream { name, text }),
        1 => "[a-c]".prop_map(|text| display(&text, None)),
        1 => "[a-c]".prop_map(|text| update("x", &text)),
        1 => any::<bool>().prop_map(|wait| KernelOutput::Clear { wait }),
    ]
}

/// The final outputs for a reader: streams merged and rendered, clears carried out; and the last update.
#[derive(Default, Debug, PartialEq)]
struct Screen {
    outputs: Vec<(String, String)>,
    updated: Option<String>,
    clear_next: bool,
}

impl Screen {
    fn show(&mut self, kind: &str, text: &str) {
        if std::mem::take(&mut self.clear_next) {
            self.outputs.clear();
        }
        match self.outputs.last_mut() {
            Some((last, shown)) if last == kind && kind != "[" => shown.push_str(text),
            _ if text.is_empty() => {}
            _ => self.outputs.push((kind.to_owned(), text.to_owned())),
        }
    }

    fn finished(mut self) -> Self {
        for (_, text) in &mut self.outputs {
            let lines: Vec<String> = folded_plain(text).lines().map(|line| line.trim_end().to_owned()).collect();
            *text = lines.join("\n").trim_end().to_owned();
        }
        self.outputs.retain(|(_, text)| !text.is_empty());
        self.clear_next = false;
        self
    }

    fn brief(&mut self, line: &str) {
        match line.split_once([':', '=']) {
            Some(("x", text)) => self.updated = Some(text.to_owned()),
            Some((kind, text)) => self.show(kind, text),
            None if line == "clear" => self.outputs.clear(),
            None => self.show("[", line),
        }
    }

    fn kernel(&mut self, output: &KernelOutput) {
        match output {
            KernelOutput::Stream { name, text } => self.show(&name[3..], text),
            KernelOutput::Clear { wait: true } => self.clear_next = true,
            KernelOutput::Clear { wait: false } => {
                self.clear_next = false;
                self.outputs.clear();
            }
            other => {
                let emit = collector().handle(0, other.clone()).remove(0);
                if matches!(other, KernelOutput::Object { .. }) {
                    self.show("[", &brief_one(emit))
                } else {
                    self.brief(&brief_one(emit))
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn the_screen_is_the_same_however_it_is_coalesced(outputs in prop::collection::vec((any_output(), 0u64..40), 0..30)) {
        let limits = OutputLimits { max_piece_bytes: 24, ..OutputLimits::default() };
        let (mut collector, mut now) = (OutputCollector::new(limits), 0);
        let (mut emitted, mut expected) = (Screen::default(), Screen::default());
        for (output, pause) in outputs {
            now += pause;
            for line in brief(collector.tick(now)) {
                emitted.brief(&line);
            }
            expected.kernel(&output);
            for line in brief(collector.handle(now, output)) {
                emitted.brief(&line);
            }
        }
        for line in brief(collector.finish(now)) {
            emitted.brief(&line);
        }
        prop_assert_eq!(emitted.finished(), expected.finished());
    }

    #[test]
    fn every_byte_is_logged_spilled_or_counted(texts in prop::collection::vec("[ab\né]{0,30}", 0..30), log in 0u64..100, lines in 0u64..20, overflow in 0u64..100) {
        let mut collector = limited(log, lines, overflow);
        for text in &texts {
            collector.handle(0, stdout(text));
        }
        collector.finish(0);
        let tally = &collector.tally;
        prop_assert_eq!(tally.log_bytes + tally.overflow_bytes + tally.dropped_bytes, texts.concat().len() as u64);
        prop_assert!(tally.log_bytes <= log && tally.log_lines <= lines && tally.overflow_bytes <= overflow);
    }
}

#[test]
fn keys_are_masked_before_anything_is_kept_and_one_that_is_cut_does_not_slip_through() {
    let key = "sk-ant-a1B2c3D4e5F6g7H8i9J0kL";
    let mask = notarium_core::mask::MASK;
    let masking = || collector().masking_keys();
    assert_eq!(run(collector(), [stdout(key)]), [format!("out:{key}")], "a person's own run");
    assert_eq!(
        run(masking(), [stdout(key), display(key, None), error(key), update("d", key)]),
        [format!("out:{mask}"), format!("[{mask}]"), format!("error:{mask}"), format!("d={mask}")]
    );
    let full = OutputCollector::new(OutputLimits { max_log_bytes: 0, ..OutputLimits::default() }).masking_keys();
    let all = run(full, [stdout(key), display(key, None)]).concat();
    assert!(!all.contains(key) && all.matches(mask).count() == 2, "{all}");
    let large = format!("{}\n{key}\n", "x".repeat(10_000));
    let mut emits = masking().handle(0, stdout(&large));
    let Some(OutputChange::Append { object, .. }) = emits.pop() else { panic!("{emits:?}") };
    assert_eq!(object.large_parts.len(), 1);
    assert!(!String::from_utf8_lossy(&object.large_parts[0].bytes).contains(key));
    for cut in 1..key.len() {
        let mut masked = masking();
        let mut emits = masked.handle(0, stdout(&key[..cut]));
        emits.extend(masked.handle(1000, stderr("between")));
        emits.extend(masked.handle(2000, stdout(&key[cut..])));
        let text = brief(emits).concat();
        assert!(!text.contains(&key[cut.max(20)..]) || key.len() - cut < 8, "cut at {cut}: {text}");
        assert!(text.contains(mask) && !text.ends_with(&key[key.len() - 6..]), "cut at {cut}: {text}");
    }
}

#[test]
fn no_rows_are_kept_in_a_form_in_which_keys_cannot_be_masked() {
    let output = || {
        let data = json!({"application/vnd.notarium.table+arrow": "AAAA", "text/plain": "x"});
        KernelOutput::Object {
            output: raw(&json!({"output_type": "display_data", "data": data, "metadata": {}})),
            display_id: None,
        }
    };
    let text = |mut collector: OutputCollector| match collector.handle(0, output()).remove(0) {
        OutputChange::Append { object, .. } => object.output.get().to_owned(),
        other => panic!("{other:?}"),
    };
    assert!(text(collector()).contains("table+arrow"));
    assert_eq!(
        text(collector().masking_keys()),
        r#"{"data":{"text/plain":"x"},"metadata":{},"output_type":"display_data"}"#
    );
}

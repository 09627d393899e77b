use std::time::Duration;

use serde_json::json;

use super::super::messages::MessageHeader;
use super::*;

const PATIENCE: Duration = Duration::from_secs(3);

fn question(asker: &str, now: Instant) -> (InputQuestion, oneshot::Receiver<KernelAnswer>) {
    let (answer, answered) = oneshot::channel();
    let (asker, code, kind) = (asker.to_owned(), "é😀.x".to_owned(), QuestionKind::Complete {});
    (InputQuestion { asker, code, cursor: 5, kind, deadline: now + PATIENCE, answer }, answered)
}

fn reply(msg_type: &str, parent: &str, content: &Value) -> KernelMessage {
    let header = MessageHeader { msg_type: msg_type.to_owned(), json: "{}".to_owned() };
    KernelMessage { header, parent_id: Some(parent.to_owned()), content: content.to_string(), buffers: Vec::new() }
}

fn code(answered: &mut oneshot::Receiver<KernelAnswer>) -> QuestionRefusal {
    match answered.try_recv() {
        Ok(KernelAnswer::Refused { code, .. }) => code,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_question_waits_while_the_kernel_runs_something_and_is_answered_in_the_code_s_units() {
    let mut questions = InputQuestions::default();
    let (one, mut answered) = question("a", Instant::now());
    questions.ask(one);
    assert!(questions.next(true).is_none());
    let sent = questions.next(false).unwrap();
    let types = json!([{"text": "xa", "type": "function", "signature": "()"}, {"text": "other", "type": "class"}]);
    let content = json!({
        "status": "ok", "matches": ["xa", "xb"], "cursor_start": 3, "cursor_end": 4,
        "metadata": {"_jupyter_types_experimental": types},
    });
    let answer = reply("complete_reply", &sent.header.msg_id, &content);
    assert!(questions.is_of_question(&answer));
    questions.shell(&answer);
    let Ok(KernelAnswer::Completed(completion)) = answered.try_recv() else { panic!() };
    assert_eq!((completion.from, completion.to), (4, 5));
    let [first, second] = &*completion.matches else { panic!("{completion:?}") };
    assert_eq!((first.match_type.as_deref(), first.signature.as_deref()), (Some("function"), Some("()")));
    assert_eq!((second.text.as_str(), &second.match_type), ("xb", &None));
}

#[test]
fn the_next_question_of_one_asker_cancels_the_former_and_those_of_others_stay() {
    let (mut questions, now) = (InputQuestions::default(), Instant::now());
    let (asked, mut asked_answer) = question("a", now);
    questions.ask(asked);
    let sent = questions.next(false).unwrap();
    let (other, mut other_answer) = question("b", now);
    questions.ask(other);
    let (waiting, mut waiting_answer) = question("a", now);
    questions.ask(waiting);
    assert_eq!(code(&mut asked_answer), QuestionRefusal::Cancelled);
    let (last, mut last_answer) = question("a", now);
    questions.ask(last);
    assert_eq!(code(&mut waiting_answer), QuestionRefusal::Cancelled);
    assert!(questions.next(false).is_none(), "the kernel has a question still");
    let none = json!({"status": "ok", "matches": [], "cursor_start": 0, "cursor_end": 0, "metadata": {}});
    questions.shell(&reply("complete_reply", &sent.header.msg_id, &none));
    for answer in [&mut other_answer, &mut last_answer] {
        let sent = questions.next(false).unwrap();
        questions.shell(&reply("complete_reply", &sent.header.msg_id, &none));
        assert!(matches!(answer.try_recv(), Ok(KernelAnswer::Completed(_))));
    }
}

#[test]
fn who_waits_too_long_is_told_why() {
    let (mut questions, now) = (InputQuestions::default(), Instant::now());
    let (slow, mut slow_answer) = question("a", now);
    let (waiting, mut waiting_answer) = question("b", now + Duration::from_secs(1));
    questions.ask(slow);
    questions.next(false).unwrap();
    questions.ask(waiting);
    assert_eq!(questions.deadline(), Some(now + PATIENCE));
    questions.expire(now + PATIENCE);
    assert_eq!(code(&mut slow_answer), QuestionRefusal::Timeout);
    assert!(waiting_answer.try_recv().is_err());
    questions.expire(now + PATIENCE * 2);
    assert_eq!(code(&mut waiting_answer), QuestionRefusal::KernelBusy);
    assert_eq!(questions.deadline(), None);
}

#[test]
fn what_no_kernel_should_say_is_a_failure() {
    let (mut questions, now) = (InputQuestions::default(), Instant::now());
    for (msg_type, content) in [
        ("complete_reply", json!({"status": "error", "ename": "E"})),
        ("complete_reply", json!({"matches": 7})),
        ("inspect_reply", json!({"found": true})),
    ] {
        let (one, mut answered) = question("a", now);
        questions.ask(one);
        let sent = questions.next(false).unwrap();
        questions.shell(&reply(msg_type, &sent.header.msg_id, &content));
        assert_eq!(code(&mut answered), QuestionRefusal::KernelFailed, "{content}");
    }
    let (mut wrong, mut answered) = question("a", now);
    wrong.cursor = 2;
    questions.ask(wrong);
    assert!(questions.next(false).is_none());
    assert_eq!(code(&mut answered), QuestionRefusal::InvalidValue);
}

#[test]
fn a_kernel_has_a_bounded_number_of_questions() {
    let (mut questions, now) = (InputQuestions::default(), Instant::now());
    let mut answers: Vec<_> = (0..=MAX_WAITING_QUESTIONS)
        .map(|number| {
            let (one, answered) = question(&number.to_string(), now);
            questions.ask(one);
            answered
        })
        .collect();
    assert_eq!(code(answers.last_mut().unwrap()), QuestionRefusal::KernelBusy);
    assert!(answers[0].try_recv().is_err());
}

fn replied(kind: &QuestionKind, expression: &Value) -> KernelAnswer {
    let reply = json!({"status": "ok", "user_expressions": {"notarium": expression}});
    python_answer(kind, serde_json::from_value(reply).unwrap())
}

fn refusal(answer: KernelAnswer) -> QuestionRefusal {
    match answer {
        KernelAnswer::Refused { code, .. } => code,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_question_is_one_expression_and_no_text_in_it_is_code() {
    let of = TableName { table: None, variable: Some("x'); import os #".to_owned()) };
    let text = expression(&QuestionKind::SummarizeColumn(SummarizeColumn { of, column: 3 }));
    assert!(
        text.starts_with("__import__(\"notarium_kernel.tables\"") && text.contains("x\\u0027); import os #"),
        "{text}"
    );
    assert!(expression(&QuestionKind::Variables {}).starts_with("(lambda "));
}

#[test]
fn what_the_kernel_says_is_an_answer_or_a_refusal_with_its_cause() {
    let kind = QuestionKind::Variables {};
    let listed = json!({"data": {RESULT_MIME: {"ok": {"variables": [{"name": "x", "type": "int"}]}}}});
    let KernelAnswer::Variables(list) = replied(&kind, &listed) else { panic!() };
    assert_eq!((&*list.variables[0].name, &*list.variables[0].variable_type), ("x", "int"));
    for (word, code) in [
        ("gone", QuestionRefusal::UnknownTable),
        ("slow", QuestionRefusal::Timeout),
        ("invalid", QuestionRefusal::InvalidValue),
        ("failed", QuestionRefusal::KernelFailed),
    ] {
        let refused = json!({"data": {RESULT_MIME: {"refused": {"kind": word, "message": "No."}}}});
        assert_eq!(refusal(replied(&kind, &refused)), code);
    }
    let failed = json!({"status": "error", "ename": "ImportError", "evalue": "no module"});
    let KernelAnswer::Refused { message, .. } = replied(&kind, &failed) else { panic!() };
    assert!(message.contains("ImportError: no module"), "{message}");
    assert_eq!(refusal(replied(&kind, &json!({"data": 3}))), QuestionRefusal::KernelFailed);
    let empty: PythonReply = serde_json::from_str("{}").unwrap();
    assert_eq!(refusal(python_answer(&kind, empty)), QuestionRefusal::KernelFailed);
}

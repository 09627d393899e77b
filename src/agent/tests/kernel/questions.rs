//! Questions to a real ipykernel about code that is being written, beside its runs.

use std::time::{Duration, Instant};

use notarium_agent::kernel::{InputQuestion, KernelEvent};
use notarium_wire::{Completion, FormatCells, Inspection, KernelAnswer, QuestionKind, QuestionRefusal};
use tokio::sync::oneshot;

use crate::scene::*;

const COMPLETE: QuestionKind = QuestionKind::Complete {};
/// Timeout that no answer exceeds, even on a busy machine.
const LONG: Duration = Duration::from_secs(60);

impl Test {
    /// Asks with the cursor at the end of the code.
    fn ask(&self, asker: &str, code: &str, kind: QuestionKind, patience: Duration) -> oneshot::Receiver<KernelAnswer> {
        let (answer, answered) = oneshot::channel();
        let cursor = u32::try_from(code.encode_utf16().count()).unwrap();
        let (asker, code, deadline) = (asker.to_owned(), code.to_owned(), Instant::now() + patience);
        self.kernel.ask(InputQuestion { asker, code, cursor, kind, deadline, answer });
        answered
    }

    async fn complete(&self, code: &str) -> Completion {
        match self.ask("a", code, COMPLETE, LONG).await.unwrap() {
            KernelAnswer::Completed(completion) => completion,
            other => panic!("{other:?}"),
        }
    }

    async fn inspect(&self, code: &str, detail: u8) -> Inspection {
        match self.ask("a", code, QuestionKind::Inspect { detail }, LONG).await.unwrap() {
            KernelAnswer::Inspected(inspection) => inspection,
            other => panic!("{other:?}"),
        }
    }
}

async fn refused(answered: oneshot::Receiver<KernelAnswer>) -> QuestionRefusal {
    match answered.await.unwrap() {
        KernelAnswer::Refused { code, .. } => code,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_attribute_of_a_variable_is_completed_with_its_type() {
    let mut test = Test::start().await;
    test.run("text = 'a'").await;
    let completion = test.complete("s = '😀'; text.capit").await;
    let [only] = &*completion.matches else { panic!("{completion:?}") };
    assert_eq!((only.text.as_str(), only.match_type.as_deref()), ("capitalize", Some("function")));
    assert!(only.signature.as_deref().is_some_and(|signature| signature.starts_with('(')), "{only:?}");
    // The emoji has two code units.
    assert_eq!((completion.from, completion.to), (15, 20));
    assert_eq!(test.complete("no_such_name.").await.matches, []);
}

#[tokio::test]
async fn a_function_is_inspected_by_name_and_at_its_open_bracket() {
    let mut test = Test::start().await;
    test.run("def area(width, height=2):\n    'The area.'\n    return width * height").await;
    let plain = test.inspect("area", 0).await.data["text/plain"].clone();
    assert!(plain.contains("width") && plain.contains("The area.") && !plain.contains("return"), "{plain}");
    let at_bracket = test.inspect("print(area(", 0).await;
    assert!(at_bracket.data["text/plain"].contains("The area."), "{at_bracket:?}");
    let with_source = test.inspect("area", 1).await;
    assert!(with_source.data["text/plain"].contains("return"), "{with_source:?}");
    let nothing = test.inspect("no_such_name", 0).await;
    assert!(!nothing.found && nothing.data.is_empty(), "{nothing:?}");
}

#[tokio::test]
async fn a_busy_kernel_says_so_and_the_next_question_cancels_the_one_before() {
    let mut test = Test::start().await;
    let id = test.execute("print('begun', flush=True)\ninput()").await;
    test.until(|event| matches!(event, KernelEvent::InputRequest { .. })).await;
    let short = Duration::from_millis(50);
    assert_eq!(refused(test.ask("a", "pri", COMPLETE, short)).await, QuestionRefusal::KernelBusy);
    let former = test.ask("a", "pri", COMPLETE, LONG);
    let other = test.ask("b", "zi", COMPLETE, LONG);
    let next = test.ask("a", "prin", COMPLETE, LONG);
    assert_eq!(refused(former).await, QuestionRefusal::Cancelled);
    test.kernel.answer_input("").unwrap();
    let events = test.until(|event| is_finished(event, &id)).await;
    assert_eq!(shown(&events).last().unwrap(), "finished:Ok 1");
    for (answered, expected) in [(other, "zip"), (next, "print")] {
        let KernelAnswer::Completed(completion) = answered.await.unwrap() else { panic!() };
        assert!(completion.matches.iter().any(|one| one.text == expected), "{completion:?}");
    }
}

#[tokio::test]
async fn what_a_question_makes_code_print_belongs_to_no_run() {
    let mut test = Test::start().await;
    test.run("class Loud:\n    def __dir__(self):\n        print('heard')\n        return ['quiet']\nloud = Loud()")
        .await;
    let completion = test.complete("loud.").await;
    assert!(completion.matches.iter().any(|one| one.text == "quiet"), "{completion:?}");
    assert_eq!(test.shown("print('own')").await, ["started:", "stdout:own\n", "finished:Ok 2"]);
    // The kernel did run it: asking runs code.
    let events = test.run("import sys; sys.stdout.flush()").await;
    assert!(!format!("{events:?}").contains("heard"));
}

#[tokio::test]
async fn a_kernel_that_ends_leaves_nobody_waiting() {
    let mut test = Test::start().await;
    test.execute("input()").await;
    test.until(|event| matches!(event, KernelEvent::InputRequest { .. })).await;
    let waiting = test.ask("a", "pri", COMPLETE, LONG);
    let (kernel, mut events) = (test.kernel, test.events);
    let reading = async { while events.recv().await.is_some() {} };
    tokio::join!(kernel.shutdown(notarium_agent::kernel::LaunchOptions::default().shutdown_timeout), reading);
    assert!(waiting.await.is_err());
}

#[tokio::test]
async fn cells_are_formatted_by_the_black_of_the_kernel_with_the_settings_of_its_folder() {
    let mut test = Test::start().await;
    let format =
        |cells: &[&str]| QuestionKind::Format(FormatCells { cells: cells.iter().map(|&it| it.to_owned()).collect() });
    let cells = ["x = {  'a':1 }", "x =", "%time x={'b':2}\ny = ( 1)", "shown  ;", "name?", ""];
    let KernelAnswer::Formatted(answer) = test.ask("a", "", format(&cells), LONG).await.unwrap() else { panic!() };
    assert!(answer.formatter.is_some_and(|name| name.starts_with("black ")), "tests/requirements.txt has black");
    let read: Vec<_> = answer.cells.iter().map(Option::as_deref).collect();
    assert_eq!(read, [Some("x = {\"a\": 1}"), None, Some("%time x={'b':2}\ny = 1"), Some("shown;"), None, Some("")]);
    test.run("open('pyproject.toml', 'w').write('[tool.black]\\nskip-string-normalization = true\\n')").await;
    let KernelAnswer::Formatted(answer) = test.ask("a", "", format(&cells[..1]), LONG).await.unwrap() else { panic!() };
    assert_eq!(answer.cells, [Some("x = {'a': 1}".to_owned())]);
    // A kernel without black answers without a formatter, and no code of the cells has run.
    test.run("import sys; sys.modules['black'] = None").await;
    let KernelAnswer::Formatted(answer) = test.ask("a", "", format(&cells), LONG).await.unwrap() else { panic!() };
    assert_eq!((answer.formatter, answer.cells), (None, Vec::new()));
}

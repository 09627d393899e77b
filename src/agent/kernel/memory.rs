//! Questions that Python answers in the kernel: variables, table rows, formatted cells. Each is an expression whose value
//! comes with the reply to a silent execution, so that it is neither an output nor in the history.

use notarium_core::kernel_tools::RESULT_MIME;
use notarium_wire::{KernelAnswer, QuestionKind, QuestionRefusal, ReadTable, SummarizeColumn, TableName, kernel_tools};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The expression's name in the request.
pub(super) const NAME: &str = "notarium";

/// The Python expression whose value is the answer.
pub(super) fn expression(kind: &QuestionKind) -> String {
    let (TableName { table, variable }, mut asked) = match kind {
        QuestionKind::ReadTable(ReadTable { of, first, count, sort, filters, search }) => {
            (of, json!({"first": first, "count": count, "sort": sort, "filters": filters, "search": search}))
        }
        QuestionKind::Format(cells) => return kernel_tools::format_expression(cells),
        QuestionKind::SummarizeColumn(SummarizeColumn { of, column }) => (of, json!({"summarize": column})),
        _ => return kernel_tools::variables_expression(),
    };
    asked["table"] = json!(table);
    asked["variable"] = json!(variable);
    kernel_tools::table_expression(&asked)
}

/// The content of an `execute_reply`, as far as it is used here.
#[derive(Deserialize)]
pub(super) struct Reply {
    #[serde(default)]
    user_expressions: Expressions,
}

#[derive(Default, Deserialize)]
struct Expressions {
    notarium: Option<Expression>,
}

#[derive(Deserialize)]
struct Expression {
    #[serde(default)]
    data: Value,
    /// Set for an expression that failed.
    #[serde(default)]
    ename: String,
    #[serde(default)]
    evalue: String,
}

#[derive(Deserialize)]
struct RefusedExpression {
    kind: String,
    message: String,
}

pub(super) fn answer(kind: &QuestionKind, reply: Reply) -> KernelAnswer {
    let Some(Expression { data, ename, evalue }) = reply.user_expressions.notarium else { return unreadable() };
    let result = &data[RESULT_MIME];
    if let Ok(RefusedExpression { kind, message }) = RefusedExpression::deserialize(&result["refused"]) {
        return code_of(&kind).because(message);
    }
    let read = match kind {
        QuestionKind::ReadTable(_) => read(&result["ok"]).map(KernelAnswer::TableRead),
        QuestionKind::SummarizeColumn(_) => read(&result["ok"]).map(KernelAnswer::ColumnSummarized),
        QuestionKind::Format(_) => read(&result["ok"]).map(KernelAnswer::Formatted),
        _ => read(&result["ok"]).map(KernelAnswer::Variables),
    };
    match read {
        Some(answer) => answer,
        None if ename == "KeyboardInterrupt" => QuestionRefusal::Cancelled.because("It was interrupted. Ask again."),
        None if ename.is_empty() => unreadable(),
        None => QuestionRefusal::KernelFailed.because(format!(
            "The kernel can't answer: {ename}: {evalue}. Its Python may have an older package notarium: upgrade or remove it."
        )),
    }
}

fn read<T: DeserializeOwned>(value: &Value) -> Option<T> {
    T::deserialize(value).ok()
}

fn code_of(kind: &str) -> QuestionRefusal {
    match kind {
        "gone" => QuestionRefusal::UnknownTable,
        "invalid" => QuestionRefusal::InvalidValue,
        "slow" => QuestionRefusal::Timeout,
        _ => QuestionRefusal::KernelFailed,
    }
}

fn unreadable() -> KernelAnswer {
    QuestionRefusal::KernelFailed.because("The kernel's answer can't be read. Restart the kernel and ask again.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replied(kind: &QuestionKind, expression: &Value) -> KernelAnswer {
        let reply = json!({"status": "ok", "user_expressions": {"notarium": expression}});
        answer(kind, serde_json::from_value(reply).unwrap())
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
        let empty: Reply = serde_json::from_str("{}").unwrap();
        assert_eq!(refusal(answer(&kind, empty)), QuestionRefusal::KernelFailed);
    }
}

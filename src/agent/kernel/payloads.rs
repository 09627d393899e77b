//! Payloads of an execution's reply: text of the pager (`len?`), which is an output, and text for a cell (`%load`, `%recall`). Pure.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{ExecutionId, KernelEvent};
use crate::outputs::{KernelOutput, raw};

/// Most payloads of one reply; IPython sends one of each source.
const MAX_PAYLOADS: usize = 16;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Payload {
    source: String,
    /// MIME bundle of the pager.
    data: Option<Box<RawValue>>,
    text: Option<String>,
    replace: bool,
}

/// Events of the payloads; those of other sources have no meaning here.
pub(super) fn events(execution_id: &ExecutionId, payloads: &RawValue) -> Vec<KernelEvent> {
    let payloads: Vec<Box<RawValue>> = serde_json::from_str(payloads.get()).unwrap_or_default();
    let read = |payload: &RawValue| serde_json::from_str::<Payload>(payload.get()).ok();
    let payloads = payloads.iter().take(MAX_PAYLOADS).map(AsRef::as_ref);
    payloads.filter_map(read).filter_map(|payload| event(execution_id, payload)).collect()
}

fn event(execution_id: &ExecutionId, Payload { source, data, text, replace }: Payload) -> Option<KernelEvent> {
    match source.as_str() {
        "page" => {
            let data = data.filter(|data| data.get().starts_with('{')).or_else(|| Some(raw(&bundle(&text?))))?;
            let output = KernelOutput::Object { output: display(&data), display_id: None };
            Some(KernelEvent::Output { execution_id: Some(execution_id.clone()), output })
        }
        "set_next_input" => Some(KernelEvent::NextInput { execution_id: execution_id.clone(), text: text?, replace }),
        _ => None,
    }
}

fn bundle(text: &str) -> serde_json::Value {
    serde_json::json!({ "text/plain": text })
}

fn display(data: &RawValue) -> Box<RawValue> {
    raw(&serde_json::json!({ "data": data, "metadata": {}, "output_type": "display_data" }))
}

/// The output that shows a text that no cell could take.
pub fn shown_text(text: &str) -> KernelOutput {
    KernelOutput::Object { output: display(&raw(&bundle(text))), display_id: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brief(payloads: &str) -> Vec<String> {
        let payloads = RawValue::from_string(payloads.to_owned()).unwrap();
        let brief = |event: &KernelEvent| match event {
            KernelEvent::Output { output: KernelOutput::Object { output, .. }, .. } => output.get().to_owned(),
            KernelEvent::NextInput { text, replace, .. } => format!("{text} {replace}"),
            other => format!("{other:?}"),
        };
        events(&"one".to_owned(), &payloads).iter().map(brief).collect()
    }

    #[test]
    fn the_pager_is_an_output_and_text_is_for_a_cell() {
        let page = r#"{"data":{"text/plain":"len(obj)"},"metadata":{},"output_type":"display_data"}"#;
        assert_eq!(brief(r#"[{"source":"page","data":{"text/plain":"len(obj)"},"start":0}]"#), [page]);
        assert_eq!(brief(r#"[{"source":"page","text":"len(obj)"}]"#), [page], "as older kernels say it");
        assert_eq!(brief(r#"[{"source":"set_next_input","text":"x","replace":true}]"#), ["x true"]);
        assert_eq!(brief(r#"[{"source":"set_next_input","text":"x"}]"#), ["x false"]);
    }

    #[test]
    fn other_payloads_mean_nothing() {
        for payloads in
            ["null", "{}", "[1]", r#"[{"source":"ask_exit"}]"#, r#"[{"source":"page"}]"#, r#"[{"source":7}]"#]
        {
            assert_eq!(brief(payloads), Vec::<String>::new(), "{payloads}");
        }
    }
}

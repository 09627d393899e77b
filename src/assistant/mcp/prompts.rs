//! Prompts: templates for common requests of people.

use rmcp::ErrorData;
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

/// Most characters of one argument; longer ones are refused.
const MAX_ARGUMENT_CHARS: usize = 2_000;

struct Template {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    /// Name, description, and whether it is required.
    arguments: &'static [(&'static str, &'static str, bool)],
    /// `{name}` is replaced by the argument.
    text: &'static str,
}

const NOTEBOOK: (&str, &str, bool) = ("notebook", "Id or title of the notebook", true);

const TEMPLATES: &[Template] = &[
    Template {
        name: "summarise_notebook",
        title: "Summarise a notebook",
        description: "What a notebook does, what came out, and what is broken in it.",
        arguments: &[NOTEBOOK],
        text: "Read the notebook {notebook} with get_notebook_state. Say in a few sentences what it does, which results it \
               shows, and which cells failed or are stale. Change nothing.",
    },
    Template {
        name: "explain_cell",
        title: "Explain a cell",
        description: "What one cell does, and what it needs from the others.",
        arguments: &[NOTEBOOK, ("cell_id", "Id of the cell", true)],
        text: "In the notebook {notebook}, explain the cell {cell_id}: what it does step by step, which names it reads and \
               writes and where those come from, and what its outputs mean. Read it with get_notebook_state. Change nothing.",
    },
    Template {
        name: "fix_failing_cell",
        title: "Fix the failing cell",
        description: "Finds the first cell that failed, mends it, and runs it again.",
        arguments: &[NOTEBOOK],
        text: "In the notebook {notebook}, find the first cell whose status is error (get_notebook_state). Read its whole \
               error with get_cell_outputs, find the cause, and mend it with modify_cell, with the cell_version that you \
               read. Run it with execute_cell, and go on until it works or you have tried three times. Then say what was \
               wrong and what you changed.",
    },
    Template {
        name: "data_analysis_example",
        title: "Create a data analysis example",
        description: "A few cells with data, a table and a chart, run and checked.",
        arguments: &[NOTEBOOK, ("topic", "What the data is about", false)],
        text: "In the notebook {notebook}, create a small data analysis example {topic}: a markdown cell with a heading, a \
               cell that makes or loads the data, one that summarises it as a table, and one that draws a chart. Make them \
               with one create_cells with run: true, look at what the answer says of each cell, mend what failed, and look at \
               the chart with get_cell_image.",
    },
];

pub fn all() -> Vec<Prompt> {
    TEMPLATES.iter().map(listed).collect()
}

fn listed(template: &Template) -> Prompt {
    let arguments = template.arguments.iter().map(|(name, description, required)| {
        PromptArgument::new(*name).with_description(*description).with_required(*required)
    });
    Prompt::new(template.name, Some(template.description), Some(arguments.collect())).with_title(template.title)
}

/// The prompt with its arguments filled in.
pub fn get(name: &str, arguments: &JsonObject) -> Result<GetPromptResult, ErrorData> {
    let template = TEMPLATES.iter().find(|template| template.name == name);
    let template = template.ok_or_else(|| ErrorData::invalid_params(format!("no prompt is called '{name}'"), None))?;
    let mut text = template.text.to_owned();
    for (name, _, required) in template.arguments {
        let value = argument(arguments, name, *required)?;
        text = text.replace(&format!("{{{name}}}"), &value);
    }
    let message = PromptMessage::new_text(Role::User, text);
    let mut result = GetPromptResult::new(vec![message]);
    result.description = Some(template.description.to_owned());
    Ok(result)
}

/// The argument as a JSON string, so that its text cannot pass for text of the prompt.
fn argument(arguments: &JsonObject, name: &str, is_required: bool) -> Result<String, ErrorData> {
    let refused = |message: String| Err(ErrorData::invalid_params(message, None));
    match arguments.get(name) {
        Some(Value::String(value)) if value.chars().count() > MAX_ARGUMENT_CHARS => {
            refused(format!("{name} is longer than {MAX_ARGUMENT_CHARS} characters"))
        }
        Some(Value::String(value)) if name == "topic" => Ok(format!("about {}", Value::from(value.as_str()))),
        Some(Value::String(value)) => Ok(Value::from(value.as_str()).to_string()),
        Some(value) if !value.is_null() => refused(format!("{name} is a text")),
        _ if is_required => refused(format!("Missing required parameters: {name}")),
        _ => Ok("with data of your choice".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn text(name: &str, arguments: Value) -> Result<String, String> {
        let result = get(name, arguments.as_object().unwrap()).map_err(|error| error.message.to_string())?;
        Ok(serde_json::to_value(&result.messages[0]).unwrap()["content"]["text"].as_str().unwrap().to_owned())
    }

    #[test]
    fn every_argument_is_put_in() {
        for prompt in all() {
            let given: JsonObject =
                prompt.arguments.iter().flatten().map(|it| (it.name.clone(), json!("xyz"))).collect();
            let text = text(&prompt.name, Value::Object(given.clone())).unwrap();
            assert!(!text.contains('{') && text.matches("xyz").count() == given.len(), "{text}");
        }
    }

    #[test]
    fn what_is_missing_or_wrong_is_said() {
        assert_eq!(text("summarise_notebook", json!({})), Err("Missing required parameters: notebook".to_owned()));
        assert_eq!(text("summarise_notebook", json!({"notebook": 5})), Err("notebook is a text".to_owned()));
        assert_eq!(text("other", json!({})), Err("no prompt is called 'other'".to_owned()));
        assert!(text("data_analysis_example", json!({"notebook": "n"})).unwrap().contains("data of your choice"));
    }
}

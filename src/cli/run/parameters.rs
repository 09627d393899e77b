//! Parameters for a headless run, as in papermill: a cell after the one tagged `parameters`. Pure.

use notarium_wire::ipynb::{Document, DocumentCell};
use serde_json::Value;
use serde_json::value::RawValue;

/// A parameter `name=value`.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    pub name: String,
    pub value: Value,
}

/// Parses `name=value`: JSON values and Python's `True`, `False`, `None` are recognised, anything else is text.
pub fn parse(text: &str) -> Result<Parameter, String> {
    let (name, value) = split(text)?;
    let value = match value {
        "True" => Value::Bool(true),
        "False" => Value::Bool(false),
        "None" => Value::Null,
        value => serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned())),
    };
    Ok(Parameter { name, value })
}

/// Parses `name=value` with any value as text.
pub fn parse_text(text: &str) -> Result<Parameter, String> {
    split(text).map(|(name, value)| Parameter { name, value: Value::String(value.to_owned()) })
}

fn split(text: &str) -> Result<(String, &str), String> {
    let (name, value) = text.split_once('=').ok_or_else(|| format!("'{text}' is no parameter: write name=value"))?;
    let mut characters = name.chars();
    let is_name = characters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && characters.all(|character| character.is_alphanumeric() || character == '_');
    if is_name { Ok((name.to_owned(), value)) } else { Err(format!("'{name}' is no variable name: write name=value")) }
}

/// Inserts a cell with the parameters: in place of a cell that an earlier run injected, else after the cell tagged
/// `parameters`, else first. `language` is the kernel's.
pub fn inject(document: &mut Document, parameters: &[Parameter], language: &str) -> Result<(), String> {
    if parameters.is_empty() {
        return Ok(());
    }
    let source = source(parameters, language)?;
    let place = |tag: &str| document.cells.iter().position(|cell| has_tag(cell, tag));
    let (at, replaces) = match (place("injected-parameters"), place("parameters")) {
        (Some(at), _) => (at, true),
        (None, Some(at)) => (at + 1, false),
        (None, None) => (0, false),
    };
    let cell = DocumentCell {
        id: free_id(document),
        cell_type: "code".to_owned(),
        source,
        metadata: tags(),
        ..DocumentCell::default()
    };
    if replaces {
        document.cells[at] = cell;
    } else {
        document.cells.insert(at, cell);
    }
    Ok(())
}

fn free_id(document: &Document) -> String {
    let names = (0..).map(|number| if number == 0 { "parameters".to_owned() } else { format!("parameters-{number}") });
    names.into_iter().find(|name| document.cells.iter().all(|cell| cell.id != *name)).unwrap_or_default()
}

fn tags() -> notarium_wire::ipynb::Object {
    let tags = serde_json::value::to_raw_value(&["injected-parameters"]).unwrap_or_else(|_| RawValue::NULL.to_owned());
    [("tags".to_owned(), tags)].into()
}

/// True if nbformat's `metadata.tags` of the cell has this tag.
pub fn has_tag(cell: &DocumentCell, tag: &str) -> bool {
    let tags = cell.metadata.get("tags").and_then(|tags| serde_json::from_str::<Vec<String>>(tags.get()).ok());
    tags.is_some_and(|tags| tags.iter().any(|known| known == tag))
}

/// A language's syntax for JSON values.
struct Language {
    /// Words for null, true and false.
    words: [&'static str; 3],
    list: [&'static str; 2],
    map: [&'static str; 3],
    /// The dollar sign in texts, escaped if the language interpolates.
    dollar: &'static str,
}

fn source(parameters: &[Parameter], language: &str) -> Result<String, String> {
    let language = match language.to_ascii_lowercase().as_str() {
        "python" => Language { words: ["None", "True", "False"], list: ["[", "]"], map: ["{", ": ", "}"], dollar: "$" },
        "r" => {
            Language { words: ["NULL", "TRUE", "FALSE"], list: ["list(", ")"], map: ["list(", " = ", ")"], dollar: "$" }
        }
        "julia" => Language {
            words: ["nothing", "true", "false"],
            list: ["[", "]"],
            map: ["Dict(", " => ", ")"],
            dollar: "\\$",
        },
        _ => {
            return Err(format!(
                "parameters can be written in Python, R and Julia, not in '{language}': set them in a cell"
            ));
        }
    };
    let line = |Parameter { name, value }: &Parameter| format!("{name} = {}\n", language.literal(value));
    Ok(format!("# Parameters\n{}", parameters.iter().map(line).collect::<String>()))
}

impl Language {
    fn literal(&self, value: &Value) -> String {
        let ([nothing, yes, no], [list, list_end], [map, pair, map_end]) = (self.words, self.list, self.map);
        match value {
            Value::Null => nothing.to_owned(),
            Value::Bool(is_so) => if *is_so { yes } else { no }.to_owned(),
            Value::Number(number) => number.to_string(),
            Value::String(text) => self.quoted(text),
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(|item| self.literal(item)).collect();
                format!("{list}{}{list_end}", items.join(", "))
            }
            Value::Object(entries) => {
                let entry =
                    |(key, value): (&String, &Value)| format!("{}{pair}{}", self.quoted(key), self.literal(value));
                let entries: Vec<String> = entries.iter().map(entry).collect();
                format!("{map}{}{map_end}", entries.join(", "))
            }
        }
    }

    fn quoted(&self, text: &str) -> String {
        let escape = |character: char| match character {
            '"' => "\\\"".to_owned(),
            '\\' => "\\\\".to_owned(),
            '\n' => "\\n".to_owned(),
            '\r' => "\\r".to_owned(),
            '\t' => "\\t".to_owned(),
            '$' => self.dollar.to_owned(),
            character if character.is_control() => format!("\\u{:04x}", u32::from(character)),
            character => character.to_string(),
        };
        format!("\"{}\"", text.chars().map(escape).collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(tags: &[&str]) -> Document {
        let cell = |(index, tag): (usize, &&str)| {
            let metadata = serde_json::value::to_raw_value(&[tag]).unwrap();
            let metadata = [("tags".to_owned(), metadata)].into();
            DocumentCell { id: format!("c{index}"), cell_type: "code".into(), metadata, ..DocumentCell::default() }
        };
        Document { cells: tags.iter().enumerate().map(cell).collect(), ..Document::default() }
    }

    fn injected(tags: &[&str]) -> Vec<String> {
        let mut document = document(tags);
        inject(&mut document, &[parse("alpha=0.5").unwrap()], "python").unwrap();
        document.cells.into_iter().map(|cell| cell.id).collect()
    }

    #[test]
    fn the_cell_goes_behind_the_tagged_one_or_first_or_in_place_of_an_earlier_one() {
        assert_eq!(injected(&["x", "parameters", "y"]), ["c0", "c1", "parameters", "c2"]);
        assert_eq!(injected(&["x", "y"]), ["parameters", "c0", "c1"]);
        assert_eq!(injected(&["parameters", "injected-parameters", "y"]), ["c0", "parameters", "c2"]);
        assert_eq!(injected(&[]), ["parameters"]);
    }

    #[test]
    fn values_are_what_they_look_like() {
        let parameters: Vec<Parameter> =
            ["a=0.5", "b=True", "c=None", "d=it's \"x\"", "e=[1, \"two\"]", "f={\"k\": false}", "g=2020-01-01", "h="]
                .map(|text| parse(text).unwrap())
                .into();
        let expected = "# Parameters\na = 0.5\nb = True\nc = None\nd = \"it's \\\"x\\\"\"\ne = [1, \"two\"]\n\
                        f = {\"k\": False}\ng = \"2020-01-01\"\nh = \"\"\n";
        assert_eq!(source(&parameters, "python").unwrap(), expected);
        assert_eq!(parse_text("a=1").unwrap().value, Value::String("1".into()));
    }

    #[test]
    fn what_is_no_parameter_is_refused() {
        for wrong in ["alpha", "1a=2", "a b=2", "=1", "a;import os=1"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        assert!(source(&[parse("a=1").unwrap()], "cobol").is_err());
    }
}

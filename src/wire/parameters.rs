//! Parameters for a headless or scheduled run, as in papermill: a cell after the one tagged `parameters`.

mod literals;

use notarium_core::RawObject;
use serde_json::value::RawValue;

use crate::ipynb::{Document, DocumentCell, Object};

use self::literals::Language;

/// Tag of the cell with the values that a notebook has by itself.
const DEFAULTS: &str = "parameters";
/// Tag of the cell with the values of a run.
const INJECTED: &str = "injected-parameters";

/// A parameter `name=value`.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Name of the variable.
    pub name: String,
    /// Value of the variable.
    pub value: ParameterValue,
}

/// The value of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum ParameterValue {
    /// A text.
    Text(String),
    /// JSON text. Numbers keep all their digits.
    Json(String),
    /// The float that is not a number.
    NotANumber,
    /// An infinite float.
    Infinity {
        /// True: below all numbers.
        is_negative: bool,
    },
}

/// Reads the parameters of a schedule: an object of variables with JSON values, in its order.
///
/// # Errors
/// A name is no variable name.
pub fn of_object(object: &RawObject) -> Result<Vec<Parameter>, String> {
    let entries: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(object.get()).map_err(|error| error.to_string())?;
    let raw: std::collections::BTreeMap<String, Box<RawValue>> =
        serde_json::from_str(object.get()).map_err(|error| error.to_string())?;
    let parameter = |name: &String| {
        check_name(name)?;
        let json = raw.get(name).map_or("null", |value| value.get());
        Ok(Parameter { name: name.clone(), value: ParameterValue::Json(json.to_owned()) })
    };
    entries.keys().map(parameter).collect()
}

/// Parses `name=value`: JSON values, numbers as Python writes them and Python's `True`, `False`, `None` are recognised,
/// anything else is text.
///
/// # Errors
/// The text is no `name=value`.
pub fn parse(text: &str) -> Result<Parameter, String> {
    let (name, value) = split(text)?;
    let json = |text: &str| ParameterValue::Json(text.to_owned());
    let value = match value {
        "True" => json("true"),
        "False" => json("false"),
        "None" => json("null"),
        value if serde_json::from_str::<&RawValue>(value).is_ok() => json(value),
        value => number(value).unwrap_or_else(|| ParameterValue::Text(value.to_owned())),
    };
    Ok(Parameter { name, value })
}

/// Reads a number that JSON does not have: `.5`, `5.`, `+5`, `nan`, `-inf`. A number that begins with `00` or `05` may be a key:
/// it stays text.
fn number(text: &str) -> Option<ParameterValue> {
    let (is_negative, digits) = match text.strip_prefix(['+', '-']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    match digits.to_ascii_lowercase().as_str() {
        "nan" => return Some(ParameterValue::NotANumber),
        "inf" | "infinity" => return Some(ParameterValue::Infinity { is_negative }),
        _ => {}
    }
    let (mantissa, exponent) = digits.split_at(digits.find(['e', 'E']).unwrap_or(digits.len()));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let or_zero = |text: &str| if text.is_empty() { "0" } else { text }.to_owned();
    let is_float = mantissa.contains('.');
    let fraction = if is_float { format!(".{}", or_zero(fraction)) } else { String::new() };
    let json = format!("{}{}{fraction}{exponent}", if is_negative { "-" } else { "" }, or_zero(whole));
    let is_number = digits.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && mantissa != "."
        && serde_json::from_str::<&RawValue>(&json).is_ok();
    is_number.then_some(ParameterValue::Json(json))
}

/// Parses `name=value` with any value as text.
///
/// # Errors
/// The text is no `name=value`.
pub fn parse_text(text: &str) -> Result<Parameter, String> {
    split(text).map(|(name, value)| Parameter { name, value: ParameterValue::Text(value.to_owned()) })
}

fn split(text: &str) -> Result<(String, &str), String> {
    let (name, value) = text.split_once('=').ok_or_else(|| format!("'{text}' is no parameter: write name=value"))?;
    check_name(name)?;
    Ok((name.to_owned(), value))
}

fn check_name(name: &str) -> Result<(), String> {
    let mut characters = name.chars();
    let is_name = characters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && characters.all(|character| character.is_alphanumeric() || character == '_');
    if is_name { Ok(()) } else { Err(format!("'{name}' is no variable name: write name=value")) }
}

/// Checks that the language can assign to the names, and hold the values exactly.
///
/// # Errors
/// A name is a word of the language, or the language cannot hold a value exactly.
pub fn check(parameters: &[Parameter], language: &str) -> Result<(), String> {
    if parameters.is_empty() {
        return Ok(());
    }
    let language = Language::of(language)?;
    parameters.iter().try_for_each(|Parameter { name, value }| {
        if language.is_reserved(name) {
            return Err(format!("'{name}' is a word of {}, not a variable: choose another name", language.name));
        }
        language.literal(value).map(drop).map_err(|problem| format!("{name}: {problem}"))
    })
}

/// Inserts a cell with the parameters: in place of a cell that an earlier run injected, else after the cell tagged
/// `parameters`, else first. `language` is the kernel's.
///
/// # Errors
/// As of [`source`].
pub fn inject(document: &mut Document, parameters: &[Parameter], language: &str) -> Result<(), String> {
    if parameters.is_empty() {
        return Ok(());
    }
    let source = source(parameters, language)?;
    let (at, replaces) = place(&document.cells, |cell| &cell.metadata);
    let cell = DocumentCell {
        id: free_id(document),
        cell_type: "code".to_owned(),
        source,
        metadata: injected_tags(),
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

/// Place of the cell with the parameters among cells, and true if it replaces the cell there.
pub fn place<T>(cells: &[T], metadata: impl Fn(&T) -> &Object) -> (usize, bool) {
    let tagged = |tag: &str| cells.iter().position(|cell| is_tagged(metadata(cell), tag));
    match (tagged(INJECTED), tagged(DEFAULTS)) {
        (Some(at), _) => (at, true),
        (None, Some(at)) => (at + 1, false),
        (None, None) => (0, false),
    }
}

/// Metadata of the cell with the parameters.
pub fn injected_tags() -> Object {
    let tags = serde_json::value::to_raw_value(&[INJECTED]).unwrap_or_else(|_| RawValue::NULL.to_owned());
    [("tags".to_owned(), tags)].into()
}

/// True if nbformat's `metadata.tags` of the cell has this tag.
pub fn has_tag(cell: &DocumentCell, tag: &str) -> bool {
    is_tagged(&cell.metadata, tag)
}

/// True if nbformat's `tags` are among the metadata of a cell, and have this tag.
pub fn is_tagged(metadata: &Object, tag: &str) -> bool {
    let tags = metadata.get("tags").and_then(|tags| serde_json::from_str::<Vec<String>>(tags.get()).ok());
    tags.is_some_and(|tags| tags.iter().any(|known| known == tag))
}

/// Source of the cell with the parameters, in a language.
///
/// # Errors
/// The language is none of those with literals here, or cannot hold a value exactly.
pub fn source(parameters: &[Parameter], language: &str) -> Result<String, String> {
    let language = Language::of(language)?;
    let line = |Parameter { name, value }: &Parameter| Ok(format!("{name} = {}\n", language.literal(value)?));
    let lines = parameters.iter().map(line).collect::<Result<String, String>>()?;
    Ok(format!("# Parameters\n{lines}"))
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
        assert_eq!(parse_text("a=1").unwrap().value, ParameterValue::Text("1".into()));
    }

    fn assigned(text: &str, language: &str) -> String {
        let source = source(&[parse(text).unwrap()], language).unwrap();
        source.strip_prefix("# Parameters\n").unwrap().trim_end().to_owned()
    }

    #[test]
    fn numbers_keep_their_digits() {
        for exact in [
            "a = 123456789012345678901234567890",
            "a = -18446744073709551617",
            "a = [18446744073709551616, {\"b\": 9007199254740993}]",
            "a = 0.12345678901234567890123",
        ] {
            assert_eq!(assigned(&exact.replace(" = ", "="), "python"), exact);
        }
        for (text, python) in
            [(".5", "0.5"), ("-.5", "-0.5"), ("5.", "5.0"), ("+5", "5"), ("5.e3", "5.0e3"), ("007", "\"007\"")]
        {
            assert_eq!(assigned(&format!("a={text}"), "python"), format!("a = {python}"));
        }
        for text in [".", "+", "-", "1e", "1.2.3", "e5", ".e5", "1_000", "0x10"] {
            assert_eq!(assigned(&format!("a={text}"), "python"), format!("a = \"{text}\""));
        }
        assert_eq!(assigned("a=NaN", "python"), "a = float(\"nan\")");
        assert_eq!(assigned("a=-inf", "python"), "a = float(\"-inf\")");
        assert_eq!((assigned("a=NaN", "R"), assigned("a=-Infinity", "julia")), ("a = NaN".into(), "a = -Inf".into()));
        let refused = source(&[parse("a=9007199254740993").unwrap()], "R").unwrap_err();
        assert!(refused.contains("9007199254740993") && refused.contains("-r"), "{refused}");
        assert_eq!(assigned("a=9007199254740992", "R"), "a = 9007199254740992");
    }

    #[test]
    fn words_of_the_language_are_no_parameters() {
        let check = |text: &str, language: &str| check(&[parse(text).unwrap()], language);
        for (wrong, language) in
            [("class=3", "python"), ("None=3", "python"), ("function=1", "R"), ("TRUE=1", "R"), ("end=1", "julia")]
        {
            assert!(check(wrong, language).unwrap_err().contains("choose another name"), "{wrong}");
        }
        for (right, language) in [("function=3", "python"), ("class=3", "R"), ("match=1", "python")] {
            check(right, language).unwrap();
        }
    }

    #[test]
    fn what_is_no_parameter_is_refused() {
        for wrong in ["alpha", "1a=2", "a b=2", "=1", "a;import os=1"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        assert!(source(&[parse("a=1").unwrap()], "cobol").is_err());
    }
}

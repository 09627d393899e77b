//! Literals and reserved words of the languages in which parameters are written.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::ParameterValue;

/// A language's syntax for values.
pub struct Language {
    pub name: &'static str,
    /// Words for null, true and false.
    words: [&'static str; 3],
    list: [&'static str; 2],
    map: [&'static str; 3],
    /// The dollar sign in texts, escaped if the language interpolates.
    dollar: &'static str,
    /// Not a number, infinity, and its negative.
    not_finite: [&'static str; 3],
    /// True: integers of any size are exact. False: they are doubles from 2^53 on.
    has_big_integers: bool,
    reserved: &'static [&'static str],
}

const PYTHON: Language = Language {
    name: "Python",
    words: ["None", "True", "False"],
    list: ["[", "]"],
    map: ["{", ": ", "}"],
    dollar: "$",
    not_finite: ["float(\"nan\")", "float(\"inf\")", "float(\"-inf\")"],
    has_big_integers: true,
    reserved: &[
        "False",
        "None",
        "True",
        "and",
        "as",
        "assert",
        "async",
        "await",
        "break",
        "class",
        "continue",
        "def",
        "del",
        "elif",
        "else",
        "except",
        "finally",
        "for",
        "from",
        "global",
        "if",
        "import",
        "in",
        "is",
        "lambda",
        "nonlocal",
        "not",
        "or",
        "pass",
        "raise",
        "return",
        "try",
        "while",
        "with",
        "yield",
        "__debug__",
    ],
};

const R: Language = Language {
    name: "R",
    words: ["NULL", "TRUE", "FALSE"],
    list: ["list(", ")"],
    map: ["list(", " = ", ")"],
    dollar: "$",
    not_finite: ["NaN", "Inf", "-Inf"],
    has_big_integers: false,
    reserved: &[
        "if",
        "else",
        "repeat",
        "while",
        "function",
        "for",
        "next",
        "break",
        "in",
        "TRUE",
        "FALSE",
        "NULL",
        "Inf",
        "NaN",
        "NA",
        "NA_integer_",
        "NA_real_",
        "NA_complex_",
        "NA_character_",
    ],
};

const JULIA: Language = Language {
    name: "Julia",
    words: ["nothing", "true", "false"],
    list: ["[", "]"],
    map: ["Dict(", " => ", ")"],
    dollar: "\\$",
    not_finite: ["NaN", "Inf", "-Inf"],
    has_big_integers: true,
    reserved: &[
        "baremodule",
        "begin",
        "break",
        "catch",
        "const",
        "continue",
        "do",
        "else",
        "elseif",
        "end",
        "export",
        "false",
        "finally",
        "for",
        "function",
        "global",
        "if",
        "import",
        "in",
        "isa",
        "let",
        "local",
        "macro",
        "module",
        "quote",
        "return",
        "struct",
        "true",
        "try",
        "using",
        "where",
        "while",
    ],
};

/// The largest integer up to which a double holds all.
const MAX_EXACT_IN_DOUBLE: u64 = 1 << 53;
/// Digits of the longest integer that Python reads.
const MAX_PYTHON_DIGITS: usize = 4_300;

impl Language {
    pub fn of(language: &str) -> Result<Self, String> {
        match language.to_ascii_lowercase().as_str() {
            "python" => Ok(PYTHON),
            "r" => Ok(R),
            "julia" => Ok(JULIA),
            _ => Err(format!(
                "parameters can be written in Python, R and Julia, not in '{language}': set them in a cell"
            )),
        }
    }

    pub fn is_reserved(&self, name: &str) -> bool {
        self.reserved.contains(&name)
    }

    /// The value in the language's syntax. Fails if the language cannot hold it exactly.
    pub fn literal(&self, value: &ParameterValue) -> Result<String, String> {
        let [not_a_number, infinity, negative] = self.not_finite;
        match value {
            ParameterValue::Text(text) => Ok(self.quoted(text)),
            ParameterValue::Json(json) => self.json(json),
            ParameterValue::NotANumber => Ok(not_a_number.to_owned()),
            ParameterValue::Infinity { is_negative } => Ok(if *is_negative { negative } else { infinity }.to_owned()),
        }
    }

    /// Numbers are taken over as they are written, so that no digit is lost.
    fn json(&self, json: &str) -> Result<String, String> {
        let ([nothing, yes, no], [list, list_end], [map, pair, map_end]) = (self.words, self.list, self.map);
        match json.trim() {
            "null" => Ok(nothing.to_owned()),
            "true" => Ok(yes.to_owned()),
            "false" => Ok(no.to_owned()),
            json if json.starts_with('"') => Ok(self.quoted(&read::<String>(json)?)),
            json if json.starts_with('[') => {
                let items = read::<Vec<Box<RawValue>>>(json)?;
                let items = items.iter().map(|item| self.json(item.get())).collect::<Result<Vec<_>, _>>()?;
                Ok(format!("{list}{}{list_end}", items.join(", ")))
            }
            json if json.starts_with('{') => {
                let entry = |(key, value): (String, Box<RawValue>)| {
                    Ok(format!("{}{pair}{}", self.quoted(&key), self.json(value.get())?))
                };
                let entries = read::<BTreeMap<String, Box<RawValue>>>(json)?;
                let entries = entries.into_iter().map(entry).collect::<Result<Vec<_>, String>>()?;
                Ok(format!("{map}{}{map_end}", entries.join(", ")))
            }
            number => self.number(number),
        }
    }

    fn number(&self, number: &str) -> Result<String, String> {
        let digits = number.trim_start_matches('-');
        let is_integer = digits.bytes().all(|byte| byte.is_ascii_digit());
        let is_exact = self.has_big_integers || digits.parse().is_ok_and(|value: u64| value <= MAX_EXACT_IN_DOUBLE);
        let is_too_long = digits.len() > MAX_PYTHON_DIGITS && self.name == PYTHON.name;
        if is_integer && (!is_exact || is_too_long) {
            let name = self.name;
            return Err(format!("{name} cannot hold the integer {number:.40} exactly: give it as text with -r"));
        }
        Ok(number.to_owned())
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

fn read<T: serde::de::DeserializeOwned>(json: &str) -> Result<T, String> {
    serde_json::from_str(json).map_err(|error| error.to_string())
}

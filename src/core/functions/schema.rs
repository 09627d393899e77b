//! JSON Schema, as much as functions that users register need: `type`, `properties`, `required`,
//! `additionalProperties`, `items`, `enum`, `const`, `anyOf`, `oneOf`, `minimum`, `maximum` and `$ref` into the same
//! schema. Other keywords inform the model and are not checked. There is no library here, because its next version
//! could change the core's decisions.

use std::cell::Cell;

use serde_json::{Map, Value};

use crate::values::decision::{Rejection, RejectionCode};
use crate::values::details::RejectionDetails;

/// Nesting depth of a check, at most: a schema may refer to itself.
const MAX_DEPTH: usize = 64;
/// Values checked against schemas for one call, at most: choices that refer to themselves double them at each depth.
const MAX_STEPS: u32 = 10_000;

/// Refuses a schema that cannot be a function's: it must be of type object.
pub(crate) fn check_schema(schema: &Value) -> Result<(), &'static str> {
    if schema["type"] != "object" {
        return Err("its type must be object");
    }
    if schema.get("properties").is_some_and(|properties| !properties.is_object()) {
        return Err("its properties must be an object");
    }
    let is_name = |list: &Value| list.as_array().is_some_and(|names| names.iter().all(Value::is_string));
    if schema.get("required").is_some_and(|required| !is_name(required)) {
        return Err("its required must be a list of names");
    }
    Ok(())
}

/// Refuses missing and unknown parameters, in words for the caller. `is_given`: a value counts as given.
pub(crate) fn check_names(
    function: &str,
    schema: &Value,
    given: &Map<String, Value>,
    is_given: impl Fn(&Value) -> bool,
) -> Result<(), ArgumentMistake> {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let missing: Vec<&str> = required.filter(|name| !given.get(*name).is_some_and(&is_given)).collect();
    if !missing.is_empty() {
        let problem = format!("Missing required parameters: {}", missing.join(", "));
        return Err(ArgumentMistake::at(missing[0], problem));
    }
    let known: Vec<&str> =
        schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    let unknown: Vec<&str> = given.keys().map(String::as_str).filter(|name| !known.contains(name)).collect();
    // Unknown parameters are refused, unless the schema allows additional ones.
    let takes_more = schema.get("additionalProperties").is_some_and(|more| *more != Value::Bool(false));
    if !unknown.is_empty() && !takes_more {
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let problem = format!("Unknown parameters: {}. {function} takes: {known}", unknown.join(", "));
        return Err(ArgumentMistake::at(unknown[0], problem));
    }
    Ok(())
}

/// Refuses arguments that do not fit the schema, with a sentence about the problem.
pub(crate) fn check_arguments(function: &str, schema: &Value, given: &Map<String, Value>) -> CheckResult {
    check_names(function, schema, given, |_| true)?;
    let checker = Checker { root: schema, steps_left: Cell::new(MAX_STEPS) };
    let checked = checker.fields("", schema, given, MAX_DEPTH);
    if checker.steps_left.get() == 0 {
        let problem = "its arguments are too complicated to check: simplify them, or its schema";
        return Err(ArgumentMistake { function: function.to_owned(), ..ArgumentMistake::at("", problem) });
    }
    checked.map_err(|mistake| ArgumentMistake { function: function.to_owned(), ..mistake })
}

struct Checker<'a> {
    root: &'a Value,
    steps_left: Cell<u32>,
}

/// An argument that is missing, unknown or wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArgumentMistake {
    /// The called function, where the sentence begins with it.
    function: String,
    place: String,
    problem: String,
}

impl ArgumentMistake {
    fn at(place: &str, problem: impl Into<String>) -> Self {
        Self { function: String::new(), place: place.to_owned(), problem: problem.into() }
    }

    /// The refusal of the call.
    pub(crate) fn refusal(self) -> Rejection {
        let Self { function, place, problem } = self;
        let message = if function.is_empty() { problem.clone() } else { format!("{function}: {problem}") };
        RejectionCode::InvalidArguments.because(message).with(RejectionDetails::Argument { place, problem })
    }
}

type CheckResult = Result<(), ArgumentMistake>;

impl Checker<'_> {
    fn fields(&self, place: &str, schema: &Value, given: &Map<String, Value>, depth: usize) -> CheckResult {
        for (name, value) in given {
            let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
            match (schema["properties"].get(name), schema.get("additionalProperties")) {
                (Some(property), _) => self.value(&place, property, value, depth)?,
                (None, Some(Value::Bool(false))) => {
                    return Err(ArgumentMistake::at(&place, format!("{place} is not known")));
                }
                (None, Some(more)) => self.value(&place, more, value, depth)?,
                (None, None) => {}
            }
        }
        Ok(())
    }

    fn value(&self, place: &str, schema: &Value, value: &Value, depth: usize) -> CheckResult {
        self.steps_left.set(self.steps_left.get().saturating_sub(1));
        if self.steps_left.get() == 0 {
            return Err(ArgumentMistake::at(place, "")); // The caller reports it once.
        }
        let Some(depth) = depth.checked_sub(1) else {
            return Err(ArgumentMistake::at(place, format!("{place} is nested too deeply")));
        };
        if let Some(pointer) = schema["$ref"].as_str() {
            let found = pointer.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            return self.value(place, found.unwrap_or(&Value::Null), value, depth);
        }
        check_type(place, schema, value)?;
        check_choice(place, schema, value)?;
        check_range(place, schema, value)?;
        for word in ["anyOf", "oneOf"] {
            if let Some(choices) = schema[word].as_array() {
                self.any(place, choices, value, depth)?;
            }
        }
        match value {
            Value::Object(fields) => {
                let mut required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
                if let Some(name) = required.find(|name| !fields.contains_key(*name)) {
                    let missing = format!("{place}.{name}");
                    return Err(ArgumentMistake::at(&missing, format!("{missing} is missing")));
                }
                self.fields(place, schema, fields, depth)
            }
            Value::Array(items) => {
                let Some(of_items) = schema.get("items") else { return Ok(()) };
                let mut items = items.iter().enumerate();
                items.try_for_each(|(index, item)| self.value(&format!("{place}[{index}]"), of_items, item, depth))
            }
            _ => Ok(()),
        }
    }

    /// Checks that a value fits one of the choices. Otherwise the error names their types or is that of the last
    /// choice.
    fn any(&self, place: &str, choices: &[Value], value: &Value, depth: usize) -> CheckResult {
        let mut refused = Ok(());
        for choice in choices {
            refused = self.value(place, choice, value, depth);
            if refused.is_ok() || self.steps_left.get() == 0 {
                return refused;
            }
        }
        let types: Vec<&str> = choices.iter().filter_map(|choice| choice["type"].as_str()).collect();
        match types.len() == choices.len() && !types.is_empty() {
            true => wrong(place, format!("{}, not {}", types.join(" or "), kind(value))),
            false => refused,
        }
    }
}

fn wrong(place: &str, must_be: String) -> CheckResult {
    Err(ArgumentMistake::at(place, format!("{place} must be {must_be}")))
}

fn check_type(place: &str, schema: &Value, value: &Value) -> CheckResult {
    let wanted: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => return Ok(()),
    };
    if wanted.iter().any(|wanted| is_of(value, wanted)) {
        return Ok(());
    }
    wrong(place, format!("{}, not {}", wanted.join(" or "), kind(value)))
}

fn is_of(value: &Value, wanted: &str) -> bool {
    match wanted {
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        wanted => kind(value) == wanted,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn check_choice(place: &str, schema: &Value, value: &Value) -> CheckResult {
    let one_of = |choices: &[&Value]| {
        let choices: Vec<String> = choices.iter().map(ToString::to_string).collect();
        wrong(place, format!("one of {}", choices.join(", ")))
    };
    match (schema["enum"].as_array(), schema.get("const")) {
        (Some(choices), _) if !choices.contains(value) => one_of(&choices.iter().collect::<Vec<_>>()),
        (_, Some(only)) if only != value => one_of(&[only]),
        _ => Ok(()),
    }
}

fn check_range(place: &str, schema: &Value, value: &Value) -> CheckResult {
    let Some(number) = value.as_f64() else { return Ok(()) };
    match (schema["minimum"].as_f64(), schema["maximum"].as_f64()) {
        (Some(least), _) if number < least => wrong(place, format!("at least {least}")),
        (_, Some(most)) if number > most => wrong(place, format!("at most {most}")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn check(schema: &Value, given: &Value) -> Result<(), String> {
        check_arguments("f", schema, given.as_object().expect("an object")).map_err(|mistake| mistake.refusal().message)
    }

    #[rstest]
    #[case(json!({"n": 1}), "")]
    #[case(json!({"n": 1.0}), "")]
    #[case(json!({"n": 1.5}), "f: n must be integer, not number")]
    #[case(json!({"n": "1"}), "f: n must be integer, not string")]
    #[case(json!({"n": 0}), "f: n must be at least 1")]
    #[case(json!({"n": 11}), "f: n must be at most 10")]
    #[case(json!({}), "Missing required parameters: n")]
    #[case(json!({"n": 1, "x": 1}), "Unknown parameters: x. f takes: n, mode, list, who, maybe, node")]
    #[case(json!({"n": 1, "mode": "fast"}), "")]
    #[case(json!({"n": 1, "mode": "odd"}), "f: mode must be one of \"fast\", \"slow\"")]
    #[case(json!({"n": 1, "list": ["a", 2]}), "f: list[1] must be string, not number")]
    #[case(json!({"n": 1, "who": {}}), "f: who.name is missing")]
    #[case(json!({"n": 1, "who": {"name": null}}), "f: who.name must be string, not null")]
    #[case(json!({"n": 1, "who": {"name": "a", "age": 1}}), "f: who.age is not known")]
    #[case(json!({"n": 1, "maybe": null}), "")]
    #[case(json!({"n": 1, "maybe": true}), "f: maybe must be integer or null, not boolean")]
    #[case(json!({"n": 1, "node": {"next": {"next": {}}}}), "")]
    #[case(json!({"n": 1, "node": {"next": 1}}), "f: node.next must be object, not number")]
    fn arguments_are_as_the_schema_says(#[case] given: Value, #[case] refusal: &str) {
        let schema = json!({
            "type": "object",
            "properties": {
                "n": {"type": "integer", "minimum": 1, "maximum": 10},
                "mode": {"enum": ["fast", "slow"]},
                "list": {"type": "array", "items": {"type": "string"}},
                "who": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": false},
                "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                "node": {"$ref": "#/$defs/node"},
            },
            "required": ["n"],
            "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
        });
        assert_eq!(check(&schema, &given).err().unwrap_or_default(), refusal);
    }

    #[test]
    fn a_refusal_names_the_argument() {
        let schema = json!({"type": "object", "properties": {"at": {"type": "object", "properties": {"x": {"type": "integer"}}}}});
        let given = json!({"at": {"x": "1"}});
        let mistake =
            check_arguments("f", &schema, given.as_object().expect("an object")).expect_err("x is no integer");
        let problem = "at.x must be integer, not string".to_owned();
        let details = RejectionDetails::Argument { place: "at.x".to_owned(), problem };
        assert_eq!(mistake.refusal().details.as_deref(), Some(&details));
    }

    #[test]
    fn a_schema_that_goes_round_ends() {
        let schema = json!({"type": "object", "properties": {"x": {"$ref": "#/properties/x"}}});
        assert!(check(&schema, &json!({"x": 1})).is_err_and(|problem| problem.contains("too deeply")));
    }

    #[test]
    fn a_schema_of_choices_that_double_ends() {
        let twice = json!({"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]});
        let schema = json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/a"}}, "$defs": {"a": twice}});
        assert!(check(&schema, &json!({"x": 1})).is_err_and(|problem| problem.contains("too complicated to check")));
    }

    #[test]
    fn more_is_taken_where_the_schema_says_so() {
        let schema = json!({"type": "object", "additionalProperties": {"type": "number"}});
        assert!(check(&schema, &json!({"any": 1})).is_ok());
        assert!(check(&schema, &json!({"any": "x"})).is_err());
    }
}

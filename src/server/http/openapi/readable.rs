//! Rewrites the schemas for client generators: the same values, in forms that all generators support.

use serde_json::{Map, Value, json};

/// Rewrites the document's schemas.
pub fn readable(document: &mut Value) {
    rewrite(document);
    if let Some(schemas) = document["components"]["schemas"].as_object_mut() {
        name_parts(schemas);
    }
}

fn rewrite(value: &mut Value) {
    write_words(value);
    write_maps(value);
    write_anything(value);
    match value {
        Value::Object(object) => object.values_mut().for_each(rewrite),
        Value::Array(values) => values.iter_mut().for_each(rewrite),
        _ => {}
    }
}

/// Turns a choice of words into an `enum`, and moves the words' descriptions into its own.
fn write_words(value: &mut Value) {
    let Some(words) = value.get("oneOf").and_then(words_of) else { return };
    let own = value["description"].as_str().map(str::to_owned);
    let told =
        value["oneOf"].as_array().into_iter().flatten().filter_map(|variant| {
            Some(format!("`{}`: {}", variant["const"].as_str()?, variant["description"].as_str()?))
        });
    let description: Vec<String> = own.into_iter().chain(told).collect();
    *value = json!({"type": "string", "enum": words, "description": description.join("\n\n")});
}

/// Words of a choice that consists of words alone.
fn words_of(choice: &Value) -> Option<Vec<Value>> {
    let words = choice.as_array()?.iter().map(|variant| match (&variant["const"], &variant["enum"]) {
        (Value::String(word), _) => Some(vec![json!(word)]),
        (_, Value::Array(words)) if variant["type"] == "string" => Some(words.clone()),
        _ => None,
    });
    Some(words.collect::<Option<Vec<_>>>()?.concat())
}

/// Turns an object with keys of one pattern alone into a map.
fn write_maps(value: &mut Value) {
    let Some(object) = value.as_object_mut() else { return };
    let Some(Value::Object(patterns)) = object.get("patternProperties").filter(|patterns| patterns.is_object()) else {
        return;
    };
    if let [schema] = patterns.values().cloned().collect::<Vec<_>>().as_slice() {
        object.insert("additionalProperties".to_owned(), schema.clone());
        object.remove("patternProperties");
    }
}

/// Replaces the schema `true` (any value) by `{}`, which all generators support.
fn write_anything(value: &mut Value) {
    let Some(object) = value.as_object_mut() else { return };
    for (key, child) in object {
        if key == "items" && *child == true {
            *child = json!({});
        }
        let children = child.as_object_mut().filter(|_| ["properties", "schemas"].contains(&key.as_str()));
        let anything = children.into_iter().flat_map(Map::values_mut).filter(|child| **child == true);
        anything.for_each(|child| *child = json!({}));
    }
}

/// Moves the object inside an enum's variant to a schema with its own name.
fn name_parts(schemas: &mut Map<String, Value>) {
    let mut named = Map::new();
    for (name, schema) in schemas.iter_mut() {
        for variant in schema.get_mut("oneOf").and_then(Value::as_array_mut).into_iter().flatten() {
            let Some(properties) = variant.get_mut("properties").and_then(Value::as_object_mut) else { continue };
            if properties.len() > 1 {
                continue;
            }
            for (tag, part) in properties.iter_mut().filter(|(_, part)| part.get("properties").is_some()) {
                let part_name = format!("{name}{}", pascal(tag));
                let reference = json!({"$ref": format!("#/components/schemas/{part_name}")});
                named.insert(part_name, std::mem::replace(part, reference));
            }
        }
    }
    schemas.extend(named);
}

fn pascal(tag: &str) -> String {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    tag.split('_').filter(|word| !word.is_empty()).map(capital).collect()
}

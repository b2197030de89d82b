//! The JSON Schema of env.toml, for completion and checks in editors.

use serde_json::{Map, Value, json};

use super::{Key, Kind};

/// The schema as JSON with a final newline; the same bytes on every call.
#[must_use]
pub fn json_schema() -> String {
    let mut root = table(crate::manifest::KEYS);
    if let Value::Object(map) = &mut root {
        map.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
        map.insert("title".to_owned(), json!("env.toml of cuda-lock"));
    }
    format!("{root:#}\n")
}

fn table(keys: &[Key]) -> Value {
    let mut properties = Map::new();
    for key in keys {
        let mut value = kind(key.kind);
        if let Value::Object(map) = &mut value {
            map.insert("description".to_owned(), json!(key.about));
        }
        properties.insert(key.name.to_owned(), value);
    }
    let required: Vec<&str> = keys.iter().filter(|key| key.required).map(|key| key.name).collect();
    let mut map = Map::new();
    map.insert("type".to_owned(), json!("object"));
    map.insert("properties".to_owned(), Value::Object(properties));
    map.insert("additionalProperties".to_owned(), json!(false));
    if !required.is_empty() {
        map.insert("required".to_owned(), json!(required));
    }
    Value::Object(map)
}

fn kind(kind: Kind) -> Value {
    let texts = || json!({ "type": "array", "items": { "type": "string" } });
    match kind {
        Kind::Text | Kind::Date => json!({ "type": "string" }),
        Kind::Choice(choices) => json!({ "enum": choices }),
        Kind::Count => json!({ "type": "integer", "minimum": 1 }),
        Kind::Bool => json!({ "type": "boolean" }),
        Kind::Texts => texts(),
        Kind::TextOrTexts => json!({ "anyOf": [{ "type": "string" }, texts()] }),
        Kind::TextsOrFalse => json!({ "anyOf": [texts(), { "const": false }] }),
        Kind::TextMap => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
        Kind::ChoiceMap(choices) => {
            json!({ "type": "object", "additionalProperties": { "enum": choices } })
        }
        Kind::Table(keys) => table(keys),
        Kind::NamedTables(keys) => {
            json!({ "type": "object", "additionalProperties": table(keys) })
        }
        Kind::Tables(keys) => json!({ "type": "array", "items": table(keys) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_knows_the_same_keys_as_the_reader() {
        let schema: Value = serde_json::from_str(&json_schema()).expect("JSON");
        for key in crate::manifest::KEYS {
            assert!(schema["properties"][key.name].is_object(), "{}", key.name);
        }
        assert_eq!(schema["additionalProperties"], json!(false));
        let machine = &schema["properties"]["machine"]["properties"];
        assert_eq!(machine["platform"]["enum"].as_array().map(Vec::len), Some(5));
        assert_eq!(schema["properties"]["environment"]["required"], json!(["python"]));
    }
}

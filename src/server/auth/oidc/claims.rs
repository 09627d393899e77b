//! Claims of a provider about groups.

use serde_json::{Map, Value};

/// Groups of a person. A claim with more is not used at all: providers cut off long ones.
const MAX_GROUPS: usize = 500;
const MAX_GROUP_BYTES: usize = 256;

/// The claim of this name, or the one inside another: `realm_access.roles` is `roles` in `realm_access`.
pub fn claim_named<'a>(claims: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    claims.get(name).or_else(|| {
        let (outer, inner) = name.split_once('.')?;
        claim_named(claims.get(outer)?.as_object()?, inner)
    })
}

/// Reads the groups from a claim: a list of texts, or one text. The error says why the claim cannot be used.
pub fn groups_in(claim: &Value) -> Result<Vec<String>, String> {
    let texts = match claim {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => {
            let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
            texts.collect::<Option<Vec<_>>>().ok_or("it has items that are no texts")?
        }
        _ => return Err("it is neither a text nor a list of texts".to_owned()),
    };
    if texts.len() > MAX_GROUPS {
        return Err(format!("it has {} groups, and at most {MAX_GROUPS} are read", texts.len()));
    }
    if texts.iter().any(|text| text.len() > MAX_GROUP_BYTES) {
        return Err(format!("it has a group of more than {MAX_GROUP_BYTES} bytes"));
    }
    Ok(texts.into_iter().filter(|text| !text.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_claim_may_be_inside_another() {
        let claims = json!({"realm_access": {"roles": ["a"], "more": {"x.y": ["b"]}}, "https://x.org/roles": ["c"], "a.b": 1, "a": {"b": 2}});
        let found = |name| claim_named(claims.as_object().unwrap(), name).cloned();
        assert_eq!(found("realm_access.roles"), Some(json!(["a"])));
        assert_eq!(found("realm_access.more.x.y"), Some(json!(["b"])));
        assert_eq!(found("https://x.org/roles"), Some(json!(["c"])));
        assert_eq!(found("a.b"), Some(json!(1)), "a claim of the whole name comes first");
        for name in ["roles", "realm_access.", "realm_access.roles.a", ".realm_access", ""] {
            assert_eq!(found(name), None, "{name}");
        }
    }

    #[test]
    fn a_claim_is_a_list_or_one_text() {
        assert_eq!(groups_in(&json!(["a", "", "b"])).unwrap(), ["a", "b"]);
        assert_eq!(groups_in(&json!("a b")).unwrap(), ["a b"]);
        assert_eq!(groups_in(&json!([])).unwrap(), [""; 0]);
        for claim in
            [json!(null), json!({"a": 1}), json!(["a", 1]), json!(7), json!(vec!["g"; 501]), json!("g".repeat(257))]
        {
            assert!(groups_in(&claim).is_err(), "{claim}");
        }
        assert_eq!(groups_in(&json!(vec!["g"; 500])).unwrap().len(), 500);
    }
}

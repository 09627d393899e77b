//! Decodes form bodies: repeated keys are lists, an empty value is `None`, booleans and numbers are text.

use crate::error::DoorError;

/// Most fields of one form.
const MAX_FIELDS: usize = 10_000;

/// Fields of a request, in the order of the body.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Form {
    fields: Vec<(String, String)>,
    /// The message that the caller says it runs in.
    pub current: Option<String>,
}

impl Form {
    /// Parses an `application/x-www-form-urlencoded` text.
    pub fn parse(body: &[u8]) -> Result<Self, DoorError> {
        let mut fields = Vec::new();
        for (name, value) in form_urlencoded::parse(body) {
            if fields.len() == MAX_FIELDS {
                return Err(DoorError::new(format!("a form has at most {MAX_FIELDS} fields: send fewer")));
            }
            fields.push((name.into_owned(), value.into_owned()));
        }
        Ok(Self { fields, current: None })
    }

    /// Parses a JSON object, which pages send instead of a form. Values that are not text stay JSON.
    pub fn parse_json(body: &[u8]) -> Result<Self, DoorError> {
        let fields: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(body)
            .map_err(|error| DoorError::new(format!("the body must be a form or a JSON object: {error}")))?;
        let text = |value: serde_json::Value| match value {
            serde_json::Value::String(text) => text,
            serde_json::Value::Null => String::new(),
            other => other.to_string(),
        };
        let fields = fields.into_iter().map(|(name, value)| (name, text(value))).collect();
        Ok(Self { fields, current: None })
    }

    /// True if the key was sent, with a value or without.
    pub fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(key, _)| key == name)
    }

    /// The last value of a key as it was sent; `None` if the key was not sent.
    pub fn sent(&self, name: &str) -> Option<&str> {
        self.fields.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The value of a key. Clients until 0.2.33 send `None` as an empty value.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.sent(name).filter(|value| !value.is_empty())
    }

    /// The value of a key without which the request has no meaning.
    pub fn required(&self, name: &str) -> Result<&str, DoorError> {
        self.text(name).ok_or_else(|| DoorError::new(format!("the field '{name}' is missing: send it")))
    }

    /// All values of a key.
    pub fn list(&self, name: &str) -> Vec<&str> {
        self.fields.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_str()).collect()
    }

    /// Ids that one field lists with commas, or several fields give.
    pub fn ids(&self, name: &str) -> Vec<&str> {
        let ids = self.list(name).into_iter().flat_map(|list| list.split(','));
        ids.map(str::trim).filter(|id| !id.is_empty()).collect()
    }

    /// A boolean: `true`, `1` and Python's `True`, or the opposite.
    pub fn flag(&self, name: &str) -> Result<Option<bool>, DoorError> {
        match self.text(name) {
            None | Some("None") => Ok(None),
            Some("true" | "True" | "1") => Ok(Some(true)),
            Some("false" | "False" | "0") => Ok(Some(false)),
            Some(other) => Err(wrong(name, "true or false", other)),
        }
    }

    /// A boolean that is false if it is absent.
    pub fn is_set(&self, name: &str) -> Result<bool, DoorError> {
        Ok(self.flag(name)?.unwrap_or(false))
    }

    /// A whole number.
    pub fn number(&self, name: &str) -> Result<Option<i64>, DoorError> {
        match self.text(name) {
            None | Some("None") => Ok(None),
            Some(text) => text.parse().map(Some).map_err(|_| wrong(name, "a whole number", text)),
        }
    }

    /// A number of items: 0 or more.
    pub fn count(&self, name: &str) -> Result<Option<usize>, DoorError> {
        let number = self.number(name)?;
        number
            .map(|number| usize::try_from(number).map_err(|_| wrong(name, "0 or more", &number.to_string())))
            .transpose()
    }

    /// Two numbers under one key, such as `view_range`.
    pub fn pair(&self, name: &str) -> Result<Option<(i64, i64)>, DoorError> {
        let numbers: Vec<&str> = self.list(name).into_iter().filter(|value| !value.is_empty()).collect();
        let parse = |text: &str| text.parse().map_err(|_| wrong(name, "a whole number", text));
        match numbers.as_slice() {
            [] => Ok(None),
            [start, end] => Ok(Some((parse(start)?, parse(end)?))),
            several => Err(wrong(name, "two numbers", &several.join(", "))),
        }
    }

    /// The message's id, else that of the message in which the caller runs. Clients until 0.0.17 call it `sid`, those until 0.0.62 `msgid`, later ones `id_`.
    pub fn message_id(&self) -> Option<&str> {
        let named = ["id_", "msgid", "sid"].iter().find_map(|name| self.text(name)).filter(|id| *id != "None");
        named.or(self.current.as_deref())
    }

    /// True if the client is of 0.0.62 or older, and reads the old shapes of answers.
    pub fn is_old(&self) -> bool {
        self.has("msgid") || self.has("sid") || self.has("msgids")
    }

    /// The fields but for those that name the request itself, as a JSON object.
    pub fn object_without(&self, names: &[&str]) -> serde_json::Map<String, serde_json::Value> {
        let others = self.fields.iter().filter(|(name, _)| !names.contains(&name.as_str()));
        others.map(|(name, value)| (name.clone(), value.clone().into())).collect()
    }
}

fn wrong(name: &str, wanted: &str, found: &str) -> DoorError {
    let found: String = found.chars().take(80).collect();
    DoorError::new(format!("{name} must be {wanted}, not '{found}'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(text: &str) -> Form {
        Form::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn an_empty_value_is_none_and_a_repeated_key_is_a_list() {
        let form = form("limit=&msg_type=&view_range=2&view_range=-1&old_strs=a&old_strs=&content=a+b%0Ac");
        assert_eq!((form.number("limit"), form.text("msg_type")), (Ok(None), None));
        assert!(form.has("limit") && !form.has("nums"));
        assert_eq!(form.pair("view_range"), Ok(Some((2, -1))));
        assert_eq!(form.list("old_strs"), ["a", ""]);
        assert_eq!(form.text("content"), Some("a b\nc"));
    }

    #[test]
    fn booleans_come_in_three_spellings() {
        let form = form("a=true&b=True&c=1&d=false&e=0&f=None&g=perhaps");
        for name in ["a", "b", "c"] {
            assert_eq!(form.flag(name), Ok(Some(true)), "{name}");
        }
        assert_eq!((form.flag("d"), form.flag("e"), form.flag("f")), (Ok(Some(false)), Ok(Some(false)), Ok(None)));
        assert_eq!(form.flag("g").unwrap_err().message, "g must be true or false, not 'perhaps'");
    }

    #[test]
    fn the_key_of_the_id_tells_old_clients_from_new_ones() {
        for (text, id, is_old) in [
            ("sid=_a", Some("_a"), true),
            ("msgid=_a", Some("_a"), true),
            ("msgid=", None, true),
            ("id_=a", Some("a"), false),
            ("content=x", None, false),
        ] {
            assert_eq!((form(text).message_id(), form(text).is_old()), (id, is_old), "{text}");
        }
    }

    #[test]
    fn a_wrong_number_says_what_is_wanted() {
        assert_eq!(form("n=x").number("n").unwrap_err().message, "n must be a whole number, not 'x'");
        assert!(form("n=-1").count("n").is_err() && form("view_range=1").pair("view_range").is_err());
        assert_eq!(form("ids=a, b,,c").ids("ids"), ["a", "b", "c"]);
    }

    #[test]
    fn too_many_fields_are_refused() {
        let many = vec!["a=1"; MAX_FIELDS + 1].join("&");
        assert!(Form::parse(many.as_bytes()).is_err());
    }

    #[test]
    fn a_page_may_send_json() {
        let form = Form::parse_json(br#"{"data_id":"x","n":3,"o":{"a":1},"nothing":null}"#).unwrap();
        assert_eq!(
            (form.text("data_id"), form.number("n"), form.sent("o")),
            (Some("x"), Ok(Some(3)), Some(r#"{"a":1}"#))
        );
        assert!(Form::parse_json(b"[1]").is_err());
    }
}

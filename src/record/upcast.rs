//! Upcasters: they turn an old payload into one of the newest schema of its type on read, never in the store.
//!
//! A type's first schema is 1. A new shape of a payload adds one upcaster here, from the schema before. So the number
//! of a type, [`newest_schema`], cannot disagree with what can be read. An upcaster is never changed or removed.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::effects::Effects;
use crate::json::RawJson;

/// Reason why this build could not type an event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The type is unknown to this build, or its schema is newer.
    #[error("this build knows no event '{event_type}' of schema {schema}")]
    Unknown {
        /// Type as in the envelope.
        event_type: String,
        /// Schema as in the envelope.
        schema: u16,
    },
    /// The payload of a known type and schema has another shape.
    #[error("this build cannot read the payload of the event '{event_type}' of schema {schema}: {reason}")]
    Malformed {
        /// Type as in the envelope.
        event_type: String,
        /// Schema as in the envelope.
        schema: u16,
        /// Found or expected value, in a few words.
        reason: String,
    },
}

impl DecodeError {
    pub(crate) fn malformed(event_type: &str, schema: u16, error: &serde_json::Error) -> Self {
        Self::Malformed { event_type: event_type.to_owned(), schema, reason: error.to_string() }
    }
}

/// Fields of a payload, each as its text in the log: an upcaster does not change fields that it does not know.
pub type PayloadFields = BTreeMap<String, RawJson>;

/// Step from one schema of an event type to the next.
#[derive(Debug, Clone, Copy)]
pub struct Upcaster {
    /// The type whose payloads it upcasts.
    pub event_type: &'static str,
    /// The schema that it takes; the result has the next one.
    pub schema: u16,
    /// Upcasts the fields. The error says which part of the payload does not fit the schema.
    pub upcast: fn(&mut PayloadFields) -> Result<(), serde_json::Error>,
}

/// The upcasters of the record.
const UPCASTERS: &[Upcaster] = &[
    Upcaster { event_type: "ExecutionRequested", schema: 1, upcast: add_free_effects },
    Upcaster { event_type: "CellRestored", schema: 1, upcast: add_free_effects_to_execution },
    Upcaster { event_type: "GrantIssued", schema: 1, upcast: add_no_kinds },
    Upcaster { event_type: "KernelFunctionsRegistered", schema: 1, upcast: name_no_effects },
    Upcaster { event_type: "KernelLaunchRequested", schema: 1, upcast: name_no_agent },
];

/// Adds the effects of runs before effects were held: all of those runs were free.
fn add_free_effects(fields: &mut PayloadFields) -> Result<(), serde_json::Error> {
    fields.insert("effects".to_owned(), RawJson::of(&Effects::Free)?);
    Ok(())
}

fn add_free_effects_to_execution(fields: &mut PayloadFields) -> Result<(), serde_json::Error> {
    let Some(execution) = fields.get_mut("execution").filter(|execution| execution.get() != "null") else {
        return Ok(());
    };
    let mut past: PayloadFields = serde_json::from_str(execution.get())?;
    add_free_effects(&mut past)?;
    *execution = RawJson::of(&past)?;
    Ok(())
}

/// Functions could not name their effects: they stay unnamed.
fn name_no_effects(_: &mut PayloadFields) -> Result<(), serde_json::Error> {
    Ok(())
}

/// Launches could name neither an agent nor labels: any agent might claim them.
fn name_no_agent(_: &mut PayloadFields) -> Result<(), serde_json::Error> {
    Ok(())
}

/// Adds the kinds of effects that earlier grants cover: none.
fn add_no_kinds(fields: &mut PayloadFields) -> Result<(), serde_json::Error> {
    fields.insert("kinds".to_owned(), RawJson::parse("[]")?);
    Ok(())
}

static MORE: OnceLock<&'static [Upcaster]> = OnceLock::new();

/// Adds upcasters for the whole process, as a build with more schemas would have them. Only the first call counts. Call
/// before any event is read or written.
pub fn extend(upcasters: &'static [Upcaster]) {
    MORE.get_or_init(|| upcasters);
}

fn upcasters(event_type: &str) -> impl Iterator<Item = &'static Upcaster> {
    let more = MORE.get().copied().unwrap_or_default();
    UPCASTERS.iter().chain(more).filter(move |upcaster| upcaster.event_type == event_type)
}

/// Schema that this build writes of an event type.
pub fn newest_schema(event_type: &str) -> u16 {
    upcasters(event_type).map(|upcaster| upcaster.schema + 1).max().unwrap_or(1)
}

/// Returns the payload in the newest schema of its type. A payload of an unknown type with schema 1 is returned
/// unchanged.
pub(crate) fn to_newest<'a>(event_type: &str, schema: u16, payload: &'a str) -> Result<Cow<'a, str>, DecodeError> {
    let newest = newest_schema(event_type);
    if schema == newest {
        return Ok(Cow::Borrowed(payload));
    }
    if schema == 0 || schema > newest {
        return Err(DecodeError::Unknown { event_type: event_type.to_owned(), schema });
    }
    let upcast = || -> Result<String, serde_json::Error> {
        let mut fields: PayloadFields = serde_json::from_str(payload)?;
        for step in schema..newest {
            upcasters(event_type).filter(|it| it.schema == step).try_for_each(|it| (it.upcast)(&mut fields))?;
        }
        serde_json::to_string(&fields)
    };
    let malformed = |error: serde_json::Error| DecodeError::malformed(event_type, schema, &error);
    upcast().map(Cow::Owned).map_err(malformed)
}

//! Hashes and salts: bytes, in JSON as lower-case hex.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! hex_bytes {
    ($($(#[$doc:meta])* $name:ident [$length:literal]),*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(pub [u8; $length]);

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&hex::encode(self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "{self}")
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "pattern": concat!("^([0-9a-f]{2}){", stringify!($length), "}$") })
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                let mut bytes = [0_u8; $length];
                hex::decode_to_slice(&*text, &mut bytes).map_err(serde::de::Error::custom)?;
                Ok(Self(bytes))
            }
        }
    )*};
}

hex_bytes! {
    /// A SHA-256 digest, as lower-case hex in JSON.
    Hash[32],
    /// Random bytes hashed with a payload, so that its digest does not allow guesses of the payload.
    Salt[16]
}

impl Hash {
    /// The hash before the first event.
    pub const ZERO: Hash = Hash([0; 32]);
}

//! Where a cell stands: a key that sorts between its neighbours' keys, so that a move touches one cell only.

use fractional_index::FractionalIndex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Lower-case hexadecimal digits that compare as text. Chosen by the server in `decide`; ties are broken by cell id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct OrderKey(String);

impl OrderKey {
    /// A key after `lower` and before `upper`. Equal or disordered bounds fall back to "right after `lower`".
    pub fn between(lower: Option<&OrderKey>, upper: Option<&OrderKey>) -> OrderKey {
        let lower = lower.and_then(OrderKey::parse);
        let upper = upper.and_then(OrderKey::parse);
        let key = FractionalIndex::new(lower.as_ref(), upper.as_ref())
            .or_else(|| lower.as_ref().map(FractionalIndex::new_after))
            .unwrap_or_default();
        OrderKey(key.to_string())
    }

    fn parse(&self) -> Option<FractionalIndex> {
        FractionalIndex::from_string(&self.0).ok()
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

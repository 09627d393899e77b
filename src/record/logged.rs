//! Events of the log, typed or stored, behind one trait.

use std::borrow::Cow;
use std::sync::Arc;

use crate::envelope::{Envelope, Recorded, Stored};

/// An event of the log, typed or stored.
pub trait Logged {
    /// Actor, time, and place in the log.
    fn envelope(&self) -> &Envelope;

    /// The typed event; `None`: this build cannot read it.
    fn recorded(&self) -> Option<Cow<'_, Recorded>>;
}

impl Logged for Recorded {
    fn envelope(&self) -> &Envelope {
        &self.envelope
    }

    fn recorded(&self) -> Option<Cow<'_, Recorded>> {
        Some(Cow::Borrowed(self))
    }
}

impl Logged for Stored {
    fn envelope(&self) -> &Envelope {
        &self.envelope
    }

    fn recorded(&self) -> Option<Cow<'_, Recorded>> {
        self.typed().ok().map(Cow::Owned)
    }
}

impl<T: Logged> Logged for Arc<T> {
    fn envelope(&self) -> &Envelope {
        (**self).envelope()
    }

    fn recorded(&self) -> Option<Cow<'_, Recorded>> {
        (**self).recorded()
    }
}

/// Sorts events by version and removes duplicates.
pub fn in_order<T: Logged>(events: &mut Vec<T>) {
    events.sort_by_key(|event| event.envelope().version);
    events.dedup_by_key(|event| event.envelope().version);
}

//! What clients see of a room, one behaviour each.

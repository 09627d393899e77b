//! A small server that speaks both protocols from a script.

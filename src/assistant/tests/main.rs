//! Providers over real HTTP, against the scripted server.

-- By which sign-in of a provider a session came: it ends when that is unlinked.
ALTER TABLE tokens ADD COLUMN identity TEXT COLLATE "C";

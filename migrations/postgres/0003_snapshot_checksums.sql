-- SHA-256 over the other columns but the notebook.
ALTER TABLE snapshots ADD COLUMN checksum BYTEA NOT NULL;

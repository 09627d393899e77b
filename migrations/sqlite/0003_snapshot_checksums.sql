-- Snapshots from before had no checksum: what they hold cannot be trusted. They are made anew from the log.
DROP TABLE snapshots;

CREATE TABLE snapshots (
    notebook INTEGER NOT NULL REFERENCES notebooks (key),
    version INTEGER NOT NULL,
    format INTEGER NOT NULL,
    hash BLOB NOT NULL,
    recorded_at INTEGER NOT NULL,
    -- SHA-256 over the other columns but the notebook.
    checksum BLOB NOT NULL,
    -- zstd.
    state BLOB NOT NULL,
    UNIQUE (notebook, version)
) STRICT;

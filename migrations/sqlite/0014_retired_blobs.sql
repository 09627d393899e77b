-- Blobs that were removed because of their age, so that readers are told.
CREATE TABLE retired_blobs (
    notebook INTEGER NOT NULL REFERENCES notebooks (key),
    sha256 BLOB NOT NULL,
    retired_at INTEGER NOT NULL,
    PRIMARY KEY (notebook, sha256)
) STRICT, WITHOUT ROWID;

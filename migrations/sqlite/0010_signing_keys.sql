-- Public keys by which heads of records are verified, from the first one on. The secret key is a file beside the database.
CREATE TABLE signing_keys (
    name TEXT PRIMARY KEY NOT NULL,
    public_key BLOB NOT NULL,
    since INTEGER NOT NULL
) STRICT;

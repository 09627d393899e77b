-- Public keys by which heads of records are verified, from the first one on.
CREATE TABLE signing_keys (
    name TEXT COLLATE "C" PRIMARY KEY,
    public_key BYTEA NOT NULL,
    since BIGINT NOT NULL
);

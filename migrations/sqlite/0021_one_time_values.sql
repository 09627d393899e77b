-- Values for one use soon: sign-ins with a provider that have begun, links that open a browser.
CREATE TABLE one_time_values (
    -- SHA-256 of what the holder brings.
    key BLOB PRIMARY KEY,
    value TEXT NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX one_time_values_by_end ON one_time_values (expires_at);

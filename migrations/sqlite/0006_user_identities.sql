-- Who people are at providers of OpenID Connect. Issuer and subject identify; the address is for people to read, and
-- nobody is found by it.
CREATE TABLE user_identities (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    id TEXT NOT NULL UNIQUE,
    user_id TEXT NOT NULL REFERENCES users (id),
    email TEXT,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;

CREATE INDEX user_identities_by_user ON user_identities (user_id, created_at);

-- Who people are at providers of OpenID Connect. Issuer and subject identify; the address is for people to read, and
-- nobody is found by it.
CREATE TABLE user_identities (
    issuer TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    email TEXT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (issuer, subject)
);

CREATE INDEX user_identities_by_user ON user_identities (user_id, created_at);

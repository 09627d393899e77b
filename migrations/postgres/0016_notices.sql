-- Notices to people, and what is still to be sent of them. No text of a notebook is here: words are made when a notice is read.
CREATE TABLE notices (
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    -- Derived from the fact that the notice is about, so that it is written once.
    id TEXT COLLATE "C" NOT NULL,
    -- NULL: the notice is about no notebook.
    notebook TEXT COLLATE "C",
    version BIGINT,
    -- The thing that the notice is about, such as a call; its notices are settled together.
    subject TEXT COLLATE "C" NOT NULL,
    -- JSON: the kind with its ids.
    kind TEXT NOT NULL,
    at BIGINT NOT NULL,
    in_inbox BOOLEAN NOT NULL,
    read_at BIGINT,
    -- The time at which nothing was left to do, for example because somebody else has decided on the call.
    settled_at BIGINT,
    PRIMARY KEY (user_id, id)
);

CREATE INDEX notices_by_time ON notices (user_id, at);
CREATE INDEX notices_by_subject ON notices (notebook, subject) WHERE notebook IS NOT NULL;

-- The version up to which notices of a notebook are written. Notebooks from before have none.
CREATE TABLE notice_positions (
    notebook TEXT COLLATE "C" PRIMARY KEY,
    version BIGINT NOT NULL
);

INSERT INTO notice_positions (notebook, version)
SELECT id, version FROM notebooks WHERE version > 0;

-- Choices that differ from the defaults.
CREATE TABLE notice_choices (
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    topic TEXT COLLATE "C" NOT NULL,
    -- inbox, browser, mail, webhook.
    channel TEXT COLLATE "C" NOT NULL,
    is_on BOOLEAN NOT NULL,
    PRIMARY KEY (user_id, topic, channel)
);

CREATE TABLE notice_people (
    user_id TEXT COLLATE "C" PRIMARY KEY REFERENCES users (id),
    -- NULL: no mail.
    address TEXT,
    -- The address that a code was sent to, until the person has entered it.
    new_address TEXT,
    code_hash BYTEA NOT NULL,
    code_expires_at BIGINT,
    code_attempts BIGINT NOT NULL,
    -- Seconds from which a run is long. NULL: the default.
    long_run_seconds BIGINT,
    -- The time of the last digest.
    mailed_at BIGINT NOT NULL
);

CREATE TABLE webhooks (
    id TEXT COLLATE "C" PRIMARY KEY,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    url TEXT NOT NULL,
    label TEXT NOT NULL,
    -- JSON: the secrets that sign, the newest first, each with the time at which it ends.
    secrets TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    -- The last delivery, and the problem if it failed.
    tried_at BIGINT,
    problem TEXT
);

CREATE INDEX webhooks_by_user ON webhooks (user_id, created_at);

-- The outbox: one row per notice and channel.
CREATE TABLE notice_deliveries (
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    notice_id TEXT COLLATE "C" NOT NULL,
    -- mail, or the id of a webhook.
    channel TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    -- Claim of one attempt, until a time of the store's clock.
    claimed_by TEXT COLLATE "C",
    claimed_until BIGINT,
    -- The mail of which it is a part, from its first attempt on.
    batch TEXT COLLATE "C",
    ended_at BIGINT,
    -- done, given_up or left_out. NULL: not ended.
    outcome TEXT COLLATE "C",
    problem TEXT,
    PRIMARY KEY (user_id, notice_id, channel)
);

CREATE INDEX notice_deliveries_by_due ON notice_deliveries (due_at) WHERE ended_at IS NULL;
CREATE INDEX notice_deliveries_by_end ON notice_deliveries (ended_at) WHERE ended_at IS NOT NULL;

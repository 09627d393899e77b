-- The log and what follows from it. Ids are compared by their bytes.

-- A notebook with its head, its lease, and the bytes of its log. No index has a column that an append changes, and pages are
-- half empty: so a head is changed within its page. Version 0: no append has been written yet.
CREATE TABLE notebooks (
    id TEXT COLLATE "C" PRIMARY KEY,
    version BIGINT NOT NULL DEFAULT 0,
    hash BYTEA NOT NULL,
    recorded_at BIGINT NOT NULL DEFAULT 0,
    -- The lease: how often it changed hands, and the server process that has it.
    epoch BIGINT NOT NULL DEFAULT 0,
    holder TEXT COLLATE "C",
    -- Bytes of payloads, and a fixed number per event for the rest.
    log_bytes BIGINT NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

-- Server processes. Only the database's clock is compared.
CREATE TABLE nodes (
    instance TEXT COLLATE "C" PRIMARY KEY,
    url TEXT NOT NULL,
    seen_at TIMESTAMPTZ NOT NULL,
    is_draining BOOLEAN NOT NULL,
    -- Newest generation of events and messages that it can read.
    level INTEGER NOT NULL
);

CREATE TABLE events (
    notebook TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    schema INTEGER NOT NULL,
    -- Actor::key(), for instance 'user:01J…'.
    actor TEXT COLLATE "C" NOT NULL,
    command_id TEXT COLLATE "C" NOT NULL,
    -- NULL: the same text as command_id.
    correlation_id TEXT COLLATE "C",
    causation_id TEXT COLLATE "C",
    undoes TEXT COLLATE "C",
    recorded_at BIGINT NOT NULL,
    -- The cell, execution or kernel session; NULL: the notebook as a whole.
    subject TEXT COLLATE "C",
    -- NULL after a redaction.
    salt BYTEA,
    payload_digest BYTEA NOT NULL,
    hash BYTEA NOT NULL,
    -- The very bytes that were hashed.
    payload BYTEA NOT NULL,
    PRIMARY KEY (notebook, version)
) PARTITION BY HASH (notebook);

CREATE TABLE events_00 PARTITION OF events FOR VALUES WITH (MODULUS 32, REMAINDER 0);
CREATE TABLE events_01 PARTITION OF events FOR VALUES WITH (MODULUS 32, REMAINDER 1);
CREATE TABLE events_02 PARTITION OF events FOR VALUES WITH (MODULUS 32, REMAINDER 2);
CREATE TABLE events_03 PARTITION OF events FOR VALUES WITH (MODULUS 32, REMAINDER 3);
CREATE TABLE events_04 PARTITION OF events FOR VALUES WITH (MODULUS 32, REMAINDER 4);
CREATE TABLE events_05 PARTITION OF events FOR VALUES WITH (MODULUS 32, REMAINDER 5);
CREATE TABLE events_06 PARTITION OF events FOR VALUES WITH (MODULUS 32, REMAINDER 6);
CREATE TABLE events_07 PARTITION OF events FOR VALUES WITH (MODULUS 32, REMAINDER 7);
CREATE TABLE events_08 PARTITION OF events FOR VALUES WITH (MODULUS 32, REMAINDER 8);
CREATE TABLE events_09 PARTITION OF events FOR VALUES WITH (MODULUS 32, REMAINDER 9);
CREATE TABLE events_10 PARTITION OF events FOR VALUES WITH (MODULUS 32, REMAINDER 10);
CREATE TABLE events_11 PARTITION OF events FOR VALUES WITH (MODULUS 32, REMAINDER 11);
CREATE TABLE events_12 PARTITION OF events FOR VALUES WITH (MODULUS 32, REMAINDER 12);
CREATE TABLE events_13 PARTITION OF events FOR VALUES WITH (MODULUS 32, REMAINDER 13);
CREATE TABLE events_14 PARTITION OF events FOR VALUES WITH (MODULUS 32, REMAINDER 14);
CREATE TABLE events_15 PARTITION OF events FOR VALUES WITH (MODULUS 32, REMAINDER 15);
CREATE TABLE events_16 PARTITION OF events FOR VALUES WITH (MODULUS 32, REMAINDER 16);
CREATE TABLE events_17 PARTITION OF events FOR VALUES WITH (MODULUS 32, REMAINDER 17);
CREATE TABLE events_18 PARTITION OF events FOR VALUES WITH (MODULUS 32, REMAINDER 18);
CREATE TABLE events_19 PARTITION OF events FOR VALUES WITH (MODULUS 32, REMAINDER 19);
CREATE TABLE events_20 PARTITION OF events FOR VALUES WITH (MODULUS 32, REMAINDER 20);
CREATE TABLE events_21 PARTITION OF events FOR VALUES WITH (MODULUS 32, REMAINDER 21);
CREATE TABLE events_22 PARTITION OF events FOR VALUES WITH (MODULUS 32, REMAINDER 22);
CREATE TABLE events_23 PARTITION OF events FOR VALUES WITH (MODULUS 32, REMAINDER 23);
CREATE TABLE events_24 PARTITION OF events FOR VALUES WITH (MODULUS 32, REMAINDER 24);
CREATE TABLE events_25 PARTITION OF events FOR VALUES WITH (MODULUS 32, REMAINDER 25);
CREATE TABLE events_26 PARTITION OF events FOR VALUES WITH (MODULUS 32, REMAINDER 26);
CREATE TABLE events_27 PARTITION OF events FOR VALUES WITH (MODULUS 32, REMAINDER 27);
CREATE TABLE events_28 PARTITION OF events FOR VALUES WITH (MODULUS 32, REMAINDER 28);
CREATE TABLE events_29 PARTITION OF events FOR VALUES WITH (MODULUS 32, REMAINDER 29);
CREATE TABLE events_30 PARTITION OF events FOR VALUES WITH (MODULUS 32, REMAINDER 30);
CREATE TABLE events_31 PARTITION OF events FOR VALUES WITH (MODULUS 32, REMAINDER 31);

-- Without the edits: they are by far the most. Edits of a cell are asked for from a version on, and found by version.
CREATE INDEX events_by_subject ON events (notebook, subject, version) WHERE type <> 'CellSourceEdited';
-- What there are lists of: runs, messages, tool calls, turns, deleted cells.
CREATE INDEX events_by_type ON events (notebook, type, version)
    WHERE type IN ('CellDeleted', 'ExecutionRequested', 'MessagePosted', 'ToolCallRequested', 'TurnStarted');

CREATE TABLE commands (
    notebook TEXT COLLATE "C" NOT NULL,
    command_id TEXT COLLATE "C" NOT NULL,
    actor TEXT COLLATE "C" NOT NULL,
    digest BYTEA NOT NULL,
    version BIGINT NOT NULL,
    -- JSON.
    outcome TEXT NOT NULL,
    PRIMARY KEY (notebook, command_id, actor)
) PARTITION BY HASH (notebook);

CREATE TABLE commands_00 PARTITION OF commands FOR VALUES WITH (MODULUS 32, REMAINDER 0);
CREATE TABLE commands_01 PARTITION OF commands FOR VALUES WITH (MODULUS 32, REMAINDER 1);
CREATE TABLE commands_02 PARTITION OF commands FOR VALUES WITH (MODULUS 32, REMAINDER 2);
CREATE TABLE commands_03 PARTITION OF commands FOR VALUES WITH (MODULUS 32, REMAINDER 3);
CREATE TABLE commands_04 PARTITION OF commands FOR VALUES WITH (MODULUS 32, REMAINDER 4);
CREATE TABLE commands_05 PARTITION OF commands FOR VALUES WITH (MODULUS 32, REMAINDER 5);
CREATE TABLE commands_06 PARTITION OF commands FOR VALUES WITH (MODULUS 32, REMAINDER 6);
CREATE TABLE commands_07 PARTITION OF commands FOR VALUES WITH (MODULUS 32, REMAINDER 7);
CREATE TABLE commands_08 PARTITION OF commands FOR VALUES WITH (MODULUS 32, REMAINDER 8);
CREATE TABLE commands_09 PARTITION OF commands FOR VALUES WITH (MODULUS 32, REMAINDER 9);
CREATE TABLE commands_10 PARTITION OF commands FOR VALUES WITH (MODULUS 32, REMAINDER 10);
CREATE TABLE commands_11 PARTITION OF commands FOR VALUES WITH (MODULUS 32, REMAINDER 11);
CREATE TABLE commands_12 PARTITION OF commands FOR VALUES WITH (MODULUS 32, REMAINDER 12);
CREATE TABLE commands_13 PARTITION OF commands FOR VALUES WITH (MODULUS 32, REMAINDER 13);
CREATE TABLE commands_14 PARTITION OF commands FOR VALUES WITH (MODULUS 32, REMAINDER 14);
CREATE TABLE commands_15 PARTITION OF commands FOR VALUES WITH (MODULUS 32, REMAINDER 15);
CREATE TABLE commands_16 PARTITION OF commands FOR VALUES WITH (MODULUS 32, REMAINDER 16);
CREATE TABLE commands_17 PARTITION OF commands FOR VALUES WITH (MODULUS 32, REMAINDER 17);
CREATE TABLE commands_18 PARTITION OF commands FOR VALUES WITH (MODULUS 32, REMAINDER 18);
CREATE TABLE commands_19 PARTITION OF commands FOR VALUES WITH (MODULUS 32, REMAINDER 19);
CREATE TABLE commands_20 PARTITION OF commands FOR VALUES WITH (MODULUS 32, REMAINDER 20);
CREATE TABLE commands_21 PARTITION OF commands FOR VALUES WITH (MODULUS 32, REMAINDER 21);
CREATE TABLE commands_22 PARTITION OF commands FOR VALUES WITH (MODULUS 32, REMAINDER 22);
CREATE TABLE commands_23 PARTITION OF commands FOR VALUES WITH (MODULUS 32, REMAINDER 23);
CREATE TABLE commands_24 PARTITION OF commands FOR VALUES WITH (MODULUS 32, REMAINDER 24);
CREATE TABLE commands_25 PARTITION OF commands FOR VALUES WITH (MODULUS 32, REMAINDER 25);
CREATE TABLE commands_26 PARTITION OF commands FOR VALUES WITH (MODULUS 32, REMAINDER 26);
CREATE TABLE commands_27 PARTITION OF commands FOR VALUES WITH (MODULUS 32, REMAINDER 27);
CREATE TABLE commands_28 PARTITION OF commands FOR VALUES WITH (MODULUS 32, REMAINDER 28);
CREATE TABLE commands_29 PARTITION OF commands FOR VALUES WITH (MODULUS 32, REMAINDER 29);
CREATE TABLE commands_30 PARTITION OF commands FOR VALUES WITH (MODULUS 32, REMAINDER 30);
CREATE TABLE commands_31 PARTITION OF commands FOR VALUES WITH (MODULUS 32, REMAINDER 31);

CREATE TABLE snapshots (
    notebook TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    format INTEGER NOT NULL,
    hash BYTEA NOT NULL,
    recorded_at BIGINT NOT NULL,
    -- zstd.
    state BYTEA NOT NULL,
    PRIMARY KEY (notebook, version)
);

ALTER TABLE snapshots ALTER COLUMN state SET STORAGE EXTERNAL;

CREATE TABLE catalog (
    notebook TEXT COLLATE "C" PRIMARY KEY,
    version BIGINT NOT NULL,
    -- UTF-8: a title may have any character.
    title BYTEA NOT NULL,
    archived BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    cells BIGINT NOT NULL,
    -- A kernel is wanted or lives, or an execution, a turn or a tool call has not ended.
    has_work BOOLEAN NOT NULL,
    -- Words of title and sources, in lower case; the text itself is not kept.
    words TSVECTOR NOT NULL
);

CREATE INDEX catalog_by_time ON catalog (updated_at DESC);
-- Notebooks that a starting server opens at once.
CREATE INDEX catalog_with_work ON catalog (notebook) WHERE has_work;
CREATE INDEX catalog_by_word ON catalog USING GIN (words);

CREATE TABLE catalog_access (
    subject TEXT COLLATE "C" NOT NULL,
    notebook TEXT COLLATE "C" NOT NULL,
    role TEXT NOT NULL,
    PRIMARY KEY (subject, notebook)
);

CREATE INDEX catalog_access_by_notebook ON catalog_access (notebook);

CREATE TABLE blobs (
    notebook TEXT COLLATE "C" NOT NULL,
    sha256 BYTEA NOT NULL,
    size_bytes BIGINT NOT NULL,
    media_type TEXT,
    uploaded_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (notebook, sha256)
);

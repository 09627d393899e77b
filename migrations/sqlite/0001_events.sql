-- The log and what follows from it. Text ids that repeat in every row are replaced by small keys.

-- A notebook's head is its last event: kept nowhere else, so that the two cannot differ.
CREATE TABLE notebooks (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    -- The lease: how often it changed hands, and the server process that has it.
    epoch INTEGER NOT NULL DEFAULT 0,
    holder TEXT
) STRICT;

-- Actor::key(), for instance 'user:01J…'.
CREATE TABLE actors (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    notebook INTEGER NOT NULL,
    version INTEGER NOT NULL,
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    schema INTEGER NOT NULL,
    actor INTEGER NOT NULL,
    command_id TEXT NOT NULL,
    -- NULL: the same text as command_id.
    correlation_id TEXT,
    causation_id TEXT,
    undoes TEXT,
    recorded_at INTEGER NOT NULL,
    -- The cell, execution or kernel session; NULL: the notebook as a whole.
    subject TEXT,
    -- NULL after a redaction.
    salt BLOB,
    payload_digest BLOB NOT NULL,
    hash BLOB NOT NULL,
    -- The very text that was hashed. Last, so that the other columns are read without it.
    payload TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX events_by_version ON events (notebook, version);
-- Without the edits: they are by far the most, and an index on them would touch one more page per notebook and commit.
-- Edits of a cell are asked for from a version on, and found by version.
CREATE INDEX events_by_subject ON events (notebook, subject, version) WHERE type <> 'CellSourceEdited';
-- What there are lists of: runs, messages, tool calls, turns, deleted cells.
CREATE INDEX events_by_type ON events (notebook, type, version)
    WHERE type IN ('CellDeleted', 'ExecutionRequested', 'MessagePosted', 'ToolCallRequested', 'TurnStarted');

CREATE TABLE commands (
    notebook INTEGER NOT NULL,
    actor INTEGER NOT NULL,
    command_id TEXT NOT NULL,
    digest BLOB NOT NULL,
    version INTEGER NOT NULL,
    -- JSON.
    outcome TEXT NOT NULL,
    -- Ids begin with the time, so that the commands of all notebooks go to the same few pages.
    PRIMARY KEY (command_id, notebook, actor)
) STRICT, WITHOUT ROWID;

CREATE TABLE snapshots (
    notebook INTEGER NOT NULL REFERENCES notebooks (key),
    version INTEGER NOT NULL,
    format INTEGER NOT NULL,
    hash BLOB NOT NULL,
    recorded_at INTEGER NOT NULL,
    -- zstd.
    state BLOB NOT NULL,
    UNIQUE (notebook, version)
) STRICT;

CREATE TABLE catalog (
    notebook INTEGER PRIMARY KEY REFERENCES notebooks (key),
    version INTEGER NOT NULL,
    title TEXT NOT NULL,
    archived INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    workspace_id TEXT,
    cells INTEGER NOT NULL,
    -- A kernel is wanted or lives, or an execution, a turn or a tool call has not ended.
    has_work INTEGER NOT NULL
) STRICT;

CREATE INDEX catalog_by_time ON catalog (updated_at DESC);
-- Notebooks that a starting server opens at once.
CREATE INDEX catalog_with_work ON catalog (notebook) WHERE has_work;

CREATE TABLE catalog_access (
    subject TEXT NOT NULL,
    notebook INTEGER NOT NULL REFERENCES notebooks (key),
    role TEXT NOT NULL,
    PRIMARY KEY (subject, notebook)
) STRICT, WITHOUT ROWID;

CREATE INDEX catalog_access_by_notebook ON catalog_access (notebook);

-- rowid is the notebook's key; the text itself is not kept.
CREATE VIRTUAL TABLE catalog_text USING fts5 (
    text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0'
);

CREATE TABLE blobs (
    notebook INTEGER NOT NULL REFERENCES notebooks (key),
    sha256 BLOB NOT NULL,
    size_bytes INTEGER NOT NULL,
    media_type TEXT,
    uploaded_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (notebook, sha256)
) STRICT, WITHOUT ROWID;

-- Snapshots that hold the difference to an earlier one: its version. NULL: a snapshot that stands by itself.
ALTER TABLE snapshots ADD COLUMN base INTEGER;

-- Lines that ever stood in cells, for the search in the past. Derived from the events: these tables may be emptied at any time.
-- The id is the notebook's key << 40, plus the line's number.
CREATE TABLE past_lines (
    id INTEGER PRIMARY KEY,
    cell TEXT NOT NULL,
    text TEXT NOT NULL,
    -- JSON: [since, start, end] of each state.
    spans TEXT NOT NULL,
    last INTEGER
) STRICT;

CREATE INDEX past_lines_that_stand ON past_lines (id) WHERE last IS NULL;

-- rowid is the line's id; the text, in lower case, is not kept.
CREATE VIRTUAL TABLE past_lines_text USING fts5 (
    text, content = '', contentless_delete = 1, detail = 'none', tokenize = 'trigram case_sensitive 1'
);

CREATE TABLE past_lines_read (
    notebook INTEGER PRIMARY KEY REFERENCES notebooks (key),
    -- The version up to which the lines are written down.
    version INTEGER NOT NULL,
    -- The number of the next line.
    next INTEGER NOT NULL
) STRICT;

-- Authors of all characters of the cells at a version, compressed. Derived from the events, as above.
CREATE TABLE blames (
    notebook INTEGER NOT NULL REFERENCES notebooks (key),
    version INTEGER NOT NULL,
    state BLOB NOT NULL,
    PRIMARY KEY (notebook, version)
) STRICT;

-- Snapshots that hold the difference to an earlier one: its version. NULL: a snapshot that stands by itself.
ALTER TABLE snapshots ADD COLUMN base BIGINT;

-- Lines that ever stood in cells, for the search in the past. Derived from the events: these tables may be emptied at any time.
CREATE TABLE past_lines (
    notebook TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    cell TEXT COLLATE "C" NOT NULL,
    -- UTF-8: a line may have any character.
    text BYTEA NOT NULL,
    -- JSON: [since, start, end] of each state.
    spans TEXT NOT NULL,
    last BIGINT,
    -- The notebook, and the pieces of three letters that are in the text in lower case, as numbers: one index finds both.
    pieces BIGINT[] NOT NULL,
    PRIMARY KEY (notebook, number)
);

CREATE INDEX past_lines_that_stand ON past_lines (notebook, number) WHERE last IS NULL;
CREATE INDEX past_lines_by_piece ON past_lines USING GIN (pieces);

CREATE TABLE past_lines_read (
    notebook TEXT COLLATE "C" PRIMARY KEY,
    -- The version up to which the lines are written down.
    version BIGINT NOT NULL,
    -- The number of the next line.
    next BIGINT NOT NULL
);

-- Authors of all characters of the cells at a version, compressed. Derived from the events, as above.
CREATE TABLE blames (
    notebook TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    state BYTEA NOT NULL,
    PRIMARY KEY (notebook, version)
);

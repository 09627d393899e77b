-- Old events as objects beside the blobs: their rows are not in `events`. The last event of a notebook always is there.
CREATE TABLE segments (
    notebook TEXT COLLATE "C" NOT NULL,
    first BIGINT NOT NULL,
    last BIGINT NOT NULL,
    sha256 BYTEA NOT NULL,
    -- Subjects of the events, in order: a JSON array, compressed with zstd.
    subjects BYTEA NOT NULL,
    PRIMARY KEY (notebook, first)
);

-- Time at which the old events of a notebook came back: they stay for a while.
ALTER TABLE notebooks ADD COLUMN warmed_at BIGINT NOT NULL DEFAULT 0;

-- Blobs that were removed because of their age, so that readers are told.
CREATE TABLE retired_blobs (
    notebook TEXT COLLATE "C" NOT NULL,
    sha256 BYTEA NOT NULL,
    retired_at BIGINT NOT NULL,
    PRIMARY KEY (notebook, sha256)
);

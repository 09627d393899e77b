-- Leaves of the tree of heads: of each notebook the last one. The tree itself is beside the blobs.
CREATE TABLE logged_heads (
    notebook TEXT COLLATE "C" PRIMARY KEY,
    -- Name of the key that signs the tree.
    origin TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    leaf BIGINT NOT NULL
);

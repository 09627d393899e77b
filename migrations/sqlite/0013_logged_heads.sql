-- Leaves of the tree of heads: of each notebook the last one. The tree itself is in the blob folder.
CREATE TABLE logged_heads (
    notebook INTEGER PRIMARY KEY REFERENCES notebooks (key),
    -- Name of the key that signs the tree.
    origin TEXT NOT NULL,
    version INTEGER NOT NULL,
    leaf INTEGER NOT NULL
) STRICT;

-- What is left to do after content was removed: the bytes of blobs, and, with an empty hash, what remains of it in the files of
-- the database.
CREATE TABLE purges_due (
    notebook TEXT COLLATE "C" NOT NULL,
    sha256 BYTEA NOT NULL,
    PRIMARY KEY (notebook, sha256)
);

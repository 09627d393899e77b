-- What is left to do after content was removed: the bytes of blobs, and, with a NULL, what remains of it in the files of the database.
CREATE TABLE purges_due (
    notebook INTEGER NOT NULL REFERENCES notebooks (key),
    sha256 BLOB
) STRICT;

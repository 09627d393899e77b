-- Where the events of a notebook stand in the log, by version. An index on `events` would have a page of its own for nearly
-- every notebook of a commit. So an event's place is first kept with those of all notebooks, in a few pages, and later moved
-- with a thousand others.
CREATE TABLE places (
    notebook INTEGER NOT NULL,
    version INTEGER NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (notebook, version)
) STRICT, WITHOUT ROWID;

-- Of one notebook, all of these come after those in `places`.
CREATE TABLE recent_places (
    notebook INTEGER NOT NULL,
    version INTEGER NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (notebook, version)
) STRICT, WITHOUT ROWID;

INSERT INTO places SELECT notebook, version, position FROM events ORDER BY notebook, version;

DROP INDEX events_by_version;

-- No event without a place, and no two events of one version.
CREATE TRIGGER events_have_places AFTER INSERT ON events BEGIN
    SELECT RAISE(FAIL, 'an event of this version is there') FROM places
        WHERE notebook = new.notebook AND version = new.version;
    INSERT INTO recent_places VALUES (new.notebook, new.version, new.position);
END;

CREATE VIEW heads (notebook, position) AS
    SELECT key, coalesce(
        (SELECT position FROM recent_places WHERE notebook = key ORDER BY version DESC LIMIT 1),
        (SELECT position FROM places WHERE notebook = key ORDER BY version DESC LIMIT 1)
    ) FROM notebooks;

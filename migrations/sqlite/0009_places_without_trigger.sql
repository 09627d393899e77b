-- The writer's own statement puts the places of a batch, and refuses a version that is there, in a fraction of the trigger's time.
DROP TRIGGER events_have_places;

-- The same rows by comparisons: for a list in IN, SQLite fills and searches a table in each insert.
DROP INDEX events_by_type;

CREATE INDEX events_by_type ON events (notebook, type, version)
    WHERE type = 'CellDeleted' OR type = 'ExecutionRequested' OR type = 'MessagePosted' OR type = 'ToolCallRequested'
        OR type = 'TurnStarted';

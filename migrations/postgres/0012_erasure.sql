-- Erased notebooks: 1 if the deletion has begun, 2 if only the event is left that says so.
ALTER TABLE notebooks ADD COLUMN erased INTEGER NOT NULL DEFAULT 0;

CREATE INDEX events_that_erase ON events (notebook) WHERE type = 'NotebookErased';

-- A tool call waits for a person there.
ALTER TABLE catalog ADD COLUMN has_waiting_calls BOOLEAN NOT NULL DEFAULT FALSE;

CREATE INDEX catalog_with_waiting_calls ON catalog (notebook) WHERE has_waiting_calls;

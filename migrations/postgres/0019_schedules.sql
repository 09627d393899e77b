-- Time from which the owner of the notebook looks after its schedules; NULL: nothing is due. No notebook had one before.
ALTER TABLE catalog ADD COLUMN due_at BIGINT;

CREATE INDEX catalog_of_schedules ON catalog (due_at) WHERE due_at IS NOT NULL;

-- Time from which the owner of the notebook looks after its schedules; NULL: it has none, as no notebook had before.
ALTER TABLE catalog ADD COLUMN due_at BIGINT;

CREATE INDEX catalog_of_schedules ON catalog (due_at) WHERE due_at IS NOT NULL;

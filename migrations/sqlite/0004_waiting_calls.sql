-- A tool call waits for a person there. What was left waiting is found at the next start, which writes all lines anew.
ALTER TABLE catalog ADD COLUMN has_waiting_calls INTEGER NOT NULL DEFAULT 0;

CREATE INDEX catalog_with_waiting_calls ON catalog (notebook) WHERE has_waiting_calls;

-- Lines that are behind are made anew: those with work may have a call that waits.
UPDATE catalog SET version = 0 WHERE has_work;

-- Notebooks that a starting server opens at once: a kernel is wanted or lives, or an execution has not ended.

ALTER TABLE catalog ADD COLUMN has_work INTEGER NOT NULL DEFAULT 0;

CREATE INDEX catalog_with_work ON catalog (notebook) WHERE has_work;

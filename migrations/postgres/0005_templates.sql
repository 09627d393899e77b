-- What the notebook says of itself as a template, as UTF-8; NULL: it is none.
ALTER TABLE catalog ADD COLUMN template BYTEA;

CREATE INDEX catalog_of_templates ON catalog (notebook) WHERE template IS NOT NULL;

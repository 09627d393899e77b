-- What the notebook says of itself as a template; NULL: it is none.
ALTER TABLE catalog ADD COLUMN template TEXT;

CREATE INDEX catalog_of_templates ON catalog (notebook) WHERE template IS NOT NULL;

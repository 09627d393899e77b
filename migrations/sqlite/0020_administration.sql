-- Group of the provider of OpenID Connect from which a membership came. NULL: a person gave it.
ALTER TABLE workspace_members ADD COLUMN from_group TEXT;

-- The same for the right of an administrator.
ALTER TABLE users ADD COLUMN admin_from_group TEXT;

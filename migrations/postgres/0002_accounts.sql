-- People, tokens, workspaces, share links, and who changed them. Times are milliseconds since 1970.
-- No secret is here: tokens and links are SHA-256 of theirs, passwords are argon2 texts.

CREATE TABLE users (
    id TEXT COLLATE "C" PRIMARY KEY,
    name TEXT NOT NULL,
    -- Lower case; NULL until the person can sign in with a password.
    login TEXT COLLATE "C" UNIQUE,
    password_hash TEXT,
    is_admin BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    deactivated_at BIGINT
);

CREATE TABLE tokens (
    id TEXT COLLATE "C" PRIMARY KEY,
    -- owner, session, api, agent, reset.
    kind TEXT NOT NULL,
    -- One of the two.
    user_id TEXT COLLATE "C" REFERENCES users (id),
    agent_id TEXT COLLATE "C",
    created_by TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    secret_hash BYTEA NOT NULL,
    -- JSON: names of scopes.
    scopes TEXT NOT NULL,
    -- JSON: "all", {"notebooks": [...]} or {"workspace": "..."}.
    coverage TEXT NOT NULL,
    label TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    last_used_at BIGINT,
    -- Also when a one-time token was spent.
    revoked_at BIGINT,
    CHECK ((user_id IS NULL) <> (agent_id IS NULL))
);

CREATE INDEX tokens_by_user ON tokens (user_id, created_at) WHERE user_id IS NOT NULL;
CREATE INDEX tokens_of_agents ON tokens (created_by, created_at) WHERE agent_id IS NOT NULL;
CREATE INDEX tokens_by_end ON tokens (coalesce(revoked_at, expires_at));

CREATE TABLE workspaces (
    id TEXT COLLATE "C" PRIMARY KEY,
    name TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE workspace_members (
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    role TEXT NOT NULL,
    PRIMARY KEY (workspace_id, user_id)
);

CREATE INDEX workspace_members_by_user ON workspace_members (user_id);

CREATE TABLE workspace_notebooks (
    notebook_id TEXT COLLATE "C" PRIMARY KEY,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id)
);

CREATE TABLE share_links (
    id TEXT COLLATE "C" PRIMARY KEY,
    notebook_id TEXT COLLATE "C" NOT NULL,
    role TEXT NOT NULL,
    secret_hash BYTEA NOT NULL,
    label TEXT NOT NULL,
    created_by TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT
);

CREATE INDEX share_links_by_notebook ON share_links (notebook_id, created_at);

-- Never deleted from, never updated.
CREATE TABLE account_audit (
    number BIGINT PRIMARY KEY,
    at BIGINT NOT NULL,
    -- Actor::key(), for instance 'user:01J…'.
    actor TEXT COLLATE "C" NOT NULL,
    action TEXT NOT NULL,
    subject TEXT COLLATE "C" NOT NULL
);

-- Model calls that were reserved under the caps and are not counted yet. Prices are micro-units of the currency per million tokens,
-- those of the reservation. An empty currency: the model had no price. An empty workspace: none.
CREATE TABLE reserved_model_calls (
    notebook TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    person TEXT NOT NULL,
    workspace TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    currency TEXT NOT NULL,
    input_price INTEGER NOT NULL,
    cached_price INTEGER NOT NULL,
    output_price INTEGER NOT NULL,
    estimated_input_tokens INTEGER NOT NULL,
    reserved_tokens INTEGER NOT NULL,
    reserved_nanos INTEGER NOT NULL,
    reserved_at INTEGER NOT NULL,
    PRIMARY KEY (notebook, turn_id, number)
) STRICT, WITHOUT ROWID;

-- Sums of counted model calls. `day` counts days since 1970 in UTC. `cost_nanos` is in billionths of the currency. Never deleted from.
CREATE TABLE model_usage (
    day INTEGER NOT NULL,
    person TEXT NOT NULL,
    workspace TEXT NOT NULL,
    notebook TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    currency TEXT NOT NULL,
    calls INTEGER NOT NULL,
    estimated_calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost_nanos INTEGER NOT NULL,
    PRIMARY KEY (day, person, workspace, notebook, provider, model, currency)
) STRICT, WITHOUT ROWID;

-- Caps on spending. `spender` is server, each_person, each_workspace, user:ID or workspace:ID; `period` day or month; `unit` tokens or a
-- currency, whose amounts are in billionths. An owner's cap of a workspace stands beside that of the administrators.
CREATE TABLE spending_caps (
    spender TEXT NOT NULL,
    period TEXT NOT NULL,
    unit TEXT NOT NULL,
    by_owner INTEGER NOT NULL,
    amount INTEGER NOT NULL,
    set_by TEXT NOT NULL,
    set_at INTEGER NOT NULL,
    PRIMARY KEY (spender, period, unit, by_owner)
) STRICT, WITHOUT ROWID;

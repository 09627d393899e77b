-- Model calls that were reserved under the caps and are not counted yet. Prices are micro-units of the currency per million tokens,
-- those of the reservation. An empty currency: the model had no price. An empty workspace: none.
CREATE TABLE reserved_model_calls (
    notebook TEXT COLLATE "C" NOT NULL,
    turn_id TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    person TEXT COLLATE "C" NOT NULL,
    workspace TEXT COLLATE "C" NOT NULL,
    provider TEXT COLLATE "C" NOT NULL,
    model TEXT COLLATE "C" NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    input_price BIGINT NOT NULL,
    cached_price BIGINT NOT NULL,
    output_price BIGINT NOT NULL,
    estimated_input_tokens BIGINT NOT NULL,
    reserved_tokens BIGINT NOT NULL,
    reserved_nanos BIGINT NOT NULL,
    reserved_at BIGINT NOT NULL,
    PRIMARY KEY (notebook, turn_id, number)
);

-- Sums of counted model calls. `day` counts days since 1970 in UTC. `cost_nanos` is in billionths of the currency. Never deleted from.
CREATE TABLE model_usage (
    day BIGINT NOT NULL,
    person TEXT COLLATE "C" NOT NULL,
    workspace TEXT COLLATE "C" NOT NULL,
    notebook TEXT COLLATE "C" NOT NULL,
    provider TEXT COLLATE "C" NOT NULL,
    model TEXT COLLATE "C" NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    calls BIGINT NOT NULL,
    estimated_calls BIGINT NOT NULL,
    input_tokens BIGINT NOT NULL,
    cached_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    cost_nanos BIGINT NOT NULL,
    PRIMARY KEY (day, person, workspace, notebook, provider, model, currency)
);

-- Caps on spending. `spender` is server, each_person, each_workspace, user:ID or workspace:ID; `period` day or month; `unit` tokens or a
-- currency, whose amounts are in billionths. An owner's cap of a workspace stands beside that of the administrators.
CREATE TABLE spending_caps (
    spender TEXT COLLATE "C" NOT NULL,
    period TEXT COLLATE "C" NOT NULL,
    unit TEXT COLLATE "C" NOT NULL,
    by_owner BOOLEAN NOT NULL,
    amount BIGINT NOT NULL,
    set_by TEXT COLLATE "C" NOT NULL,
    set_at BIGINT NOT NULL,
    PRIMARY KEY (spender, period, unit, by_owner)
);

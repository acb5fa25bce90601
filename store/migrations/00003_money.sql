-- Questions to models: money put aside before each leaves, and what became of it. Amounts are integer millionths of a dollar.

-- +goose Up
DROP INDEX model_call_candidate;
ALTER TABLE model_call RENAME TO model_call_before;

-- A row is one question on its way, from the money put aside for it to its end. It is written twice: when money is put aside
-- (reserved), and when it ends: settled (the reply is here), released (nothing is to pay) or uncertain (it may be to pay).
CREATE TABLE model_call (
    id            INTEGER NOT NULL PRIMARY KEY,
    request       TEXT    NOT NULL CHECK (request <> ''),
    candidate     TEXT    REFERENCES candidate (id),
    stage         TEXT    NOT NULL,
    run           TEXT    NOT NULL,
    owner         TEXT    NOT NULL, -- the process that asks
    prompt        TEXT    NOT NULL,
    version       INTEGER NOT NULL,
    model         TEXT    NOT NULL,
    state         TEXT    NOT NULL CHECK (state IN ('reserved', 'settled', 'released', 'uncertain')),
    reserved      INTEGER NOT NULL CHECK (reserved >= 0),      -- what was put aside
    micro_usd     INTEGER NOT NULL CHECK (micro_usd >= 0),     -- what counts now: put aside, paid, nothing, or still put aside
    tokens        INTEGER NOT NULL CHECK (tokens >= 0),        -- the same for tokens, both ways
    tokens_in     INTEGER NOT NULL CHECK (tokens_in >= 0),     -- these three as the endpoint reported them
    tokens_cached INTEGER NOT NULL CHECK (tokens_cached >= 0), -- of tokens_in
    tokens_out    INTEGER NOT NULL CHECK (tokens_out >= 0),
    latency       INTEGER NOT NULL,
    exchange      TEXT    NOT NULL, -- digest of request and reply
    note          TEXT    NOT NULL,
    began         INTEGER NOT NULL,
    ended         INTEGER NOT NULL,
    CHECK ((state = 'settled') = (exchange <> ''))
) STRICT;
-- No question is asked by two at once, and none is paid twice.
CREATE UNIQUE INDEX model_call_asked ON model_call (request) WHERE state = 'reserved';
CREATE UNIQUE INDEX model_call_paid ON model_call (request) WHERE state = 'settled';
CREATE INDEX model_call_candidate ON model_call (candidate);

-- A stored reply was used: once for each candidate and stage, however often they are run again.
CREATE TABLE model_use (
    call      INTEGER NOT NULL REFERENCES model_call (id),
    candidate TEXT    REFERENCES candidate (id),
    stage     TEXT    NOT NULL,
    at        INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX model_use_once ON model_use (call, stage, coalesce(candidate, ''));
CREATE INDEX model_use_candidate ON model_use (candidate);

-- Sums of micro_usd and tokens, so that a budget is looked at in the time of one row: of the whole store, of each run, of
-- each stage in each run ("stage run"), of each candidate. Triggers keep them.
CREATE TABLE model_total (
    scope     TEXT    NOT NULL CHECK (scope IN ('store', 'run', 'stage', 'candidate')),
    name      TEXT    NOT NULL,
    micro_usd INTEGER NOT NULL,
    tokens    INTEGER NOT NULL,
    PRIMARY KEY (scope, name)
) STRICT;

-- +goose StatementBegin
CREATE TRIGGER model_call_counts AFTER INSERT ON model_call
BEGIN
    INSERT INTO model_total (scope, name, micro_usd, tokens)
    SELECT scope, name, NEW.micro_usd, NEW.tokens FROM (
        SELECT 'store' AS scope, '' AS name UNION ALL SELECT 'run', NEW.run UNION ALL SELECT 'stage', NEW.stage || ' ' || NEW.run
        UNION ALL SELECT 'candidate', NEW.candidate WHERE NEW.candidate IS NOT NULL
    ) WHERE true
    ON CONFLICT (scope, name) DO UPDATE SET micro_usd = micro_usd + excluded.micro_usd, tokens = tokens + excluded.tokens;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER model_call_counts_anew AFTER UPDATE OF micro_usd, tokens ON model_call
BEGIN
    UPDATE model_total SET micro_usd = micro_usd + NEW.micro_usd - OLD.micro_usd, tokens = tokens + NEW.tokens - OLD.tokens
    WHERE scope = 'store' AND name = '' OR scope = 'run' AND name = NEW.run OR scope = 'stage' AND name = NEW.stage || ' ' || NEW.run
        OR scope = 'candidate' AND name = NEW.candidate;
END;
-- +goose StatementEnd

INSERT INTO model_call (request, candidate, stage, run, owner, prompt, version, model, state, reserved, micro_usd, tokens,
    tokens_in, tokens_cached, tokens_out, latency, exchange, note, began, ended)
SELECT request, candidate, '', '', '', prompt, CAST(prompt_version AS INTEGER), model, 'settled', max(micro_usd, 0), max(micro_usd, 0),
    max(tokens_in, 0) + max(tokens_out, 0), max(tokens_in, 0), 0, max(tokens_out, 0), latency, reply,
    'kept by an older sluice: the reply alone, prompt version ' || prompt_version, at - latency, at
FROM model_call_before ORDER BY at, request;
DROP TABLE model_call_before;

-- What was spent stays: a call ends once, and nothing but its end is written later.
-- +goose StatementBegin
CREATE TRIGGER model_call_ends_once BEFORE UPDATE ON model_call WHEN OLD.state <> 'reserved'
BEGIN SELECT RAISE(ABORT, 'a model call ends once'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER model_call_keeps_its_request
BEFORE UPDATE OF id, request, candidate, stage, run, owner, prompt, version, model, reserved, began ON model_call
BEGIN SELECT RAISE(ABORT, 'only the end of a model call is written later'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER model_call_no_delete BEFORE DELETE ON model_call
BEGIN SELECT RAISE(ABORT, 'model_call is append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER model_use_no_update BEFORE UPDATE ON model_use
BEGIN SELECT RAISE(ABORT, 'model_use is append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER model_use_no_delete BEFORE DELETE ON model_use
BEGIN SELECT RAISE(ABORT, 'model_use is append-only'); END;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER model_use_no_delete;
DROP TRIGGER model_use_no_update;
DROP TRIGGER model_call_no_delete;
DROP TRIGGER model_call_keeps_its_request;
DROP TRIGGER model_call_ends_once;
DROP TRIGGER model_call_counts_anew;
DROP TRIGGER model_call_counts;
DROP TABLE model_total;
DROP TABLE model_use;
DROP INDEX model_call_candidate;
ALTER TABLE model_call RENAME TO model_call_after;
CREATE TABLE model_call (
    request        TEXT    NOT NULL PRIMARY KEY,
    candidate      TEXT    REFERENCES candidate (id),
    prompt         TEXT    NOT NULL,
    prompt_version TEXT    NOT NULL,
    model          TEXT    NOT NULL,
    reply          TEXT    NOT NULL,
    tokens_in      INTEGER NOT NULL,
    tokens_out     INTEGER NOT NULL,
    micro_usd      INTEGER NOT NULL,
    latency        INTEGER NOT NULL,
    at             INTEGER NOT NULL
) STRICT;
CREATE INDEX model_call_candidate ON model_call (candidate);
INSERT INTO model_call
SELECT request, candidate, prompt, CAST(version AS TEXT), model, exchange, tokens_in, tokens_out, micro_usd, latency, ended
FROM model_call_after WHERE state = 'settled';
DROP TABLE model_call_after;

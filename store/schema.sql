CREATE TABLE attempt (
    id         INTEGER NOT NULL PRIMARY KEY,
    candidate  TEXT    NOT NULL REFERENCES candidate (id),
    generation INTEGER NOT NULL,
    stage      TEXT    NOT NULL,
    version    INTEGER NOT NULL,
    key        TEXT    NOT NULL,
    outcome    TEXT    NOT NULL CHECK (outcome IN ('pass', 'reject', 'hold', 'error')),
    code       TEXT    NOT NULL,
    reason     TEXT    NOT NULL,
    transient  INTEGER NOT NULL CHECK (transient IN (0, 1)),
    owner      TEXT    NOT NULL,
    started    INTEGER NOT NULL,
    ended      INTEGER NOT NULL
) STRICT;
CREATE INDEX attempt_candidate ON attempt (candidate, id);
CREATE UNIQUE INDEX attempt_key ON attempt (candidate, key) WHERE outcome <> 'error';
CREATE TRIGGER attempt_no_delete BEFORE DELETE ON attempt
BEGIN SELECT RAISE(ABORT, 'attempt is append-only'); END;
CREATE TRIGGER attempt_no_update BEFORE UPDATE ON attempt
BEGIN SELECT RAISE(ABORT, 'attempt is append-only'); END;
CREATE TABLE candidate (
    id         TEXT    NOT NULL PRIMARY KEY CHECK (id <> ''),
    family     TEXT    NOT NULL,
    repo       TEXT    NOT NULL,
    ord        INTEGER NOT NULL,
    generation INTEGER NOT NULL CHECK (generation >= 0),
    state      TEXT    NOT NULL CHECK (state IN ('open', 'admitted', 'rejected', 'held', 'failed')),
    stage      TEXT    NOT NULL,
    code       TEXT    NOT NULL,
    reason     TEXT    NOT NULL,
    transient  INTEGER NOT NULL CHECK (transient IN (0, 1)),
    plan       TEXT    NOT NULL,
    attempt    INTEGER NOT NULL, -- that decided where it stands; 0 for none
    data       TEXT    NOT NULL
) STRICT;
CREATE INDEX candidate_order ON candidate (family, repo, ord, id);
CREATE TABLE evidence (
    attempt    INTEGER NOT NULL REFERENCES attempt (id),
    name       TEXT    NOT NULL,
    media_type TEXT    NOT NULL,
    digest     TEXT    NOT NULL,
    size       INTEGER NOT NULL CHECK (size >= 0),
    PRIMARY KEY (attempt, name)
) STRICT;
CREATE TRIGGER evidence_no_delete BEFORE DELETE ON evidence
BEGIN SELECT RAISE(ABORT, 'evidence is append-only'); END;
CREATE TRIGGER evidence_no_update BEFORE UPDATE ON evidence
BEGIN SELECT RAISE(ABORT, 'evidence is append-only'); END;
CREATE TABLE hour (
    name    TEXT    NOT NULL PRIMARY KEY CHECK (name <> ''),
    state   TEXT    NOT NULL CHECK (state IN ('done', 'partial', 'gap', 'missing', 'suspect', 'not_gzip', 'not_expected')),
    digest  TEXT    NOT NULL,
    size    INTEGER NOT NULL CHECK (size >= 0),
    counts  TEXT    NOT NULL,
    version INTEGER NOT NULL,
    at      INTEGER NOT NULL
) STRICT;
CREATE TABLE lead (
    id       TEXT    NOT NULL PRIMARY KEY CHECK (id <> ''),
    kind     TEXT    NOT NULL CHECK (kind IN ('pair', 'issue-pr', 'report', 'instance')),
    repo     TEXT    NOT NULL CHECK (repo <> ''),
    source   TEXT    NOT NULL CHECK (source <> ''),
    method   TEXT    NOT NULL,
    data     TEXT    NOT NULL,
    evidence TEXT    NOT NULL, -- digest of a blob; '' for none
    line     INTEGER NOT NULL CHECK (line >= 0)
) STRICT;
CREATE INDEX lead_order ON lead (repo, kind, source, id);
CREATE TABLE lease (
    candidate TEXT    NOT NULL PRIMARY KEY REFERENCES candidate (id),
    owner     TEXT    NOT NULL CHECK (owner <> ''),
    until     INTEGER NOT NULL
) STRICT;
CREATE INDEX lease_owner ON lease (owner);
CREATE TABLE mark (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;
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
CREATE UNIQUE INDEX model_call_asked ON model_call (request) WHERE state = 'reserved';
CREATE INDEX model_call_candidate ON model_call (candidate);
CREATE UNIQUE INDEX model_call_paid ON model_call (request) WHERE state = 'settled';
CREATE TRIGGER model_call_counts AFTER INSERT ON model_call
BEGIN
    INSERT INTO model_total (scope, name, micro_usd, tokens)
    SELECT scope, name, NEW.micro_usd, NEW.tokens FROM (
        SELECT 'store' AS scope, '' AS name UNION ALL SELECT 'run', NEW.run UNION ALL SELECT 'stage', NEW.stage || ' ' || NEW.run
        UNION ALL SELECT 'candidate', NEW.candidate WHERE NEW.candidate IS NOT NULL
    ) WHERE true
    ON CONFLICT (scope, name) DO UPDATE SET micro_usd = micro_usd + excluded.micro_usd, tokens = tokens + excluded.tokens;
END;
CREATE TRIGGER model_call_counts_anew AFTER UPDATE OF micro_usd, tokens ON model_call
BEGIN
    UPDATE model_total SET micro_usd = micro_usd + NEW.micro_usd - OLD.micro_usd, tokens = tokens + NEW.tokens - OLD.tokens
    WHERE scope = 'store' AND name = '' OR scope = 'run' AND name = NEW.run OR scope = 'stage' AND name = NEW.stage || ' ' || NEW.run
        OR scope = 'candidate' AND name = NEW.candidate;
END;
CREATE TRIGGER model_call_ends_once BEFORE UPDATE ON model_call WHEN OLD.state <> 'reserved'
BEGIN SELECT RAISE(ABORT, 'a model call ends once'); END;
CREATE TRIGGER model_call_keeps_its_request
BEFORE UPDATE OF id, request, candidate, stage, run, owner, prompt, version, model, reserved, began ON model_call
BEGIN SELECT RAISE(ABORT, 'only the end of a model call is written later'); END;
CREATE TRIGGER model_call_no_delete BEFORE DELETE ON model_call
BEGIN SELECT RAISE(ABORT, 'model_call is append-only'); END;
CREATE TABLE model_total (
    scope     TEXT    NOT NULL CHECK (scope IN ('store', 'run', 'stage', 'candidate')),
    name      TEXT    NOT NULL,
    micro_usd INTEGER NOT NULL,
    tokens    INTEGER NOT NULL,
    PRIMARY KEY (scope, name)
) STRICT;
CREATE TABLE model_use (
    call      INTEGER NOT NULL REFERENCES model_call (id),
    candidate TEXT    REFERENCES candidate (id),
    stage     TEXT    NOT NULL,
    at        INTEGER NOT NULL
) STRICT;
CREATE INDEX model_use_candidate ON model_use (candidate);
CREATE UNIQUE INDEX model_use_once ON model_use (call, stage, coalesce(candidate, ''));
CREATE TRIGGER model_use_no_delete BEFORE DELETE ON model_use
BEGIN SELECT RAISE(ABORT, 'model_use is append-only'); END;
CREATE TRIGGER model_use_no_update BEFORE UPDATE ON model_use
BEGIN SELECT RAISE(ABORT, 'model_use is append-only'); END;
CREATE TABLE release (
    name    TEXT    NOT NULL PRIMARY KEY CHECK (name <> ''),
    digest  TEXT    NOT NULL,
    created INTEGER NOT NULL
) STRICT;
CREATE TABLE release_instance (
    release   TEXT    NOT NULL REFERENCES release (name),
    ord       INTEGER NOT NULL,
    candidate TEXT    NOT NULL REFERENCES candidate (id),
    PRIMARY KEY (release, ord),
    UNIQUE (release, candidate)
) STRICT;
CREATE INDEX release_instance_candidate ON release_instance (candidate);
CREATE TABLE review (
    id        INTEGER NOT NULL PRIMARY KEY,
    candidate TEXT    NOT NULL REFERENCES candidate (id),
    decision  TEXT    NOT NULL CHECK (decision <> ''),
    note      TEXT    NOT NULL,
    reviewer  TEXT    NOT NULL,
    at        INTEGER NOT NULL
) STRICT;
CREATE INDEX review_candidate ON review (candidate, id);
CREATE TABLE run (
    key       TEXT    NOT NULL PRIMARY KEY,
    kind      TEXT    NOT NULL,
    label     TEXT    NOT NULL,
    digest    TEXT    NOT NULL,
    candidate TEXT    REFERENCES candidate (id),
    started   INTEGER NOT NULL,
    ended     INTEGER NOT NULL
) STRICT;
CREATE INDEX run_candidate ON run (candidate);

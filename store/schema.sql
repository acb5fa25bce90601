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

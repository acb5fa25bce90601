-- What miners found, and which hour files of GH Archive they have read.

-- +goose Up
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

CREATE TABLE hour (
    name    TEXT    NOT NULL PRIMARY KEY CHECK (name <> ''),
    state   TEXT    NOT NULL CHECK (state IN ('done', 'partial', 'gap', 'missing', 'suspect', 'not_gzip', 'not_expected')),
    digest  TEXT    NOT NULL,
    size    INTEGER NOT NULL CHECK (size >= 0),
    counts  TEXT    NOT NULL,
    version INTEGER NOT NULL,
    at      INTEGER NOT NULL
) STRICT;

-- +goose Down
DROP TABLE hour;
DROP TABLE lead;

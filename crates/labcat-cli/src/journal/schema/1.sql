-- The journal of a study. Points are JSON lists of numbers that read back exactly.
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- The optimizer as of the newest transaction, without the evaluations: they are the rows of trial that were told.
CREATE TABLE state (
    one  INTEGER PRIMARY KEY CHECK (one = 1),
    json TEXT NOT NULL
);

CREATE TABLE trial (
    id       INTEGER PRIMARY KEY,
    x        TEXT NOT NULL,
    status   TEXT NOT NULL CHECK (status IN ('pending', 'ok', 'failed', 'timeout', 'cancelled')),
    value    REAL,
    seconds  REAL,
    told     INTEGER UNIQUE,  -- the order of telling, from 0
    run      INTEGER,         -- the local run of the optimizer that it belongs to
    source   TEXT,            -- command, hand or import
    message  TEXT,            -- why it failed
    attempts INTEGER NOT NULL DEFAULT 0,
    asked_at INTEGER,         -- seconds since 1970
    told_at  INTEGER
);

CREATE TABLE output (
    id     INTEGER PRIMARY KEY REFERENCES trial (id),
    stdout TEXT NOT NULL,
    stderr TEXT NOT NULL
);

CREATE TABLE correction (
    number INTEGER PRIMARY KEY,
    id     INTEGER NOT NULL REFERENCES trial (id),
    was    REAL,              -- NULL: it had failed
    became REAL,
    at     INTEGER NOT NULL
);

-- The trust region at each model-based suggestion.
CREATE TABLE step (
    number        INTEGER PRIMARY KEY,
    at_evaluation INTEGER NOT NULL,
    region        TEXT NOT NULL
);

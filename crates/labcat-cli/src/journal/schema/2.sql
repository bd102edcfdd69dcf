-- What each evaluation was run as, and what it gave besides its value.
ALTER TABLE trial ADD COLUMN result TEXT;      -- what the command gave, a JSON object: {"value": 1.5, …}
ALTER TABLE trial ADD COLUMN command TEXT;     -- its words as they were run, a JSON list
ALTER TABLE trial ADD COLUMN directory TEXT;
ALTER TABLE trial ADD COLUMN host TEXT;
ALTER TABLE trial ADD COLUMN exit INTEGER;     -- the exit status; NULL if a signal ended it
ALTER TABLE trial ADD COLUMN signal INTEGER;
ALTER TABLE trial ADD COLUMN started_at REAL;  -- seconds since 1970
ALTER TABLE trial ADD COLUMN ended_at REAL;

ALTER TABLE correction ADD COLUMN cause TEXT NOT NULL DEFAULT 'hand';  -- or retry

-- What a run has in hand. It may be out of date: a run that was killed could not clear it.
CREATE TABLE running (
    id         INTEGER PRIMARY KEY REFERENCES trial (id),
    started_at REAL NOT NULL,
    host       TEXT NOT NULL
);

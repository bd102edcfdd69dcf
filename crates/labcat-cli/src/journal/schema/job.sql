-- The jobs of a scheduler that evaluations were submitted as.
CREATE TABLE job (
    trial    INTEGER NOT NULL REFERENCES trial (id),
    attempt  INTEGER NOT NULL,            -- from 1
    name     TEXT NOT NULL,               -- by which the scheduler finds it, also if its number was never learnt
    number   TEXT,                        -- the scheduler's; NULL: it is not known whether it was submitted
    noted_at REAL NOT NULL,               -- before it was submitted; seconds since 1970
    open     INTEGER NOT NULL DEFAULT 1,  -- 0: nothing is expected of it any more
    PRIMARY KEY (trial, attempt)
);

-- A remark of the people who measure.
ALTER TABLE trial ADD COLUMN note TEXT;

-- The name of the newest transaction and of the one before it: a log belongs to a file whose newest name it knows.
CREATE TABLE mark (
    one      INTEGER PRIMARY KEY CHECK (one = 1),
    token    TEXT NOT NULL,
    previous TEXT NOT NULL
);
INSERT INTO mark VALUES (1, lower(hex(randomblob(16))), '');

-- The study's id, by which its workers know it.
INSERT INTO meta VALUES ('id', lower(hex(randomblob(16))));

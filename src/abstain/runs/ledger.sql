PRAGMA journal_mode = WAL;
PRAGMA user_version = 1;
CREATE TABLE receipts (
    number INTEGER PRIMARY KEY,
    time TEXT NOT NULL,     -- UTC: 2013-05-09T12:00:00.000Z
    entered TEXT NOT NULL,  -- the time on the clock, where somebody entered another one; or empty
    team TEXT NOT NULL,
    run TEXT NOT NULL,
    file TEXT NOT NULL,     -- its name as it was sent
    sha256 TEXT NOT NULL,   -- its name in submissions/
    bytes INTEGER NOT NULL,
    valid INTEGER NOT NULL,
    found TEXT NOT NULL     -- what validation found, a line each
);
CREATE TABLE requests (     -- what teams asked for
    number INTEGER PRIMARY KEY,
    time TEXT NOT NULL,
    entered TEXT NOT NULL,
    team TEXT NOT NULL,
    run TEXT NOT NULL,
    request TEXT NOT NULL CHECK (request IN ('withdraw', 'primary'))
);

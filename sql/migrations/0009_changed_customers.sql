-- Up to which moment are the customers that notifications name planned, so that the next run begins there?
ALTER TABLE runs ADD COLUMN followed_until timestamptz;
COMMENT ON COLUMN runs.followed_until IS
    'changedSince: customers named by notifications that were signed before this moment are asked for, by this run or one before; NULL when the run did not come so far.';
-- Phase 0 is new: notifications of the whole app, which name the customers of phase 1.
COMMENT ON COLUMN runs.phase IS
    '0: notifications that name the customers; 1: histories and notifications; 2: refunds of the customers in whose history a revocation was seen.';
-- A notification that came late, by a replay or another job's crawl, is found by when it came. Rows lie in that order, so
-- the index has one entry for a megabyte of them.
CREATE INDEX notifications_first_seen_at ON notifications USING brin (first_seen_at);
-- A rotation of Apple's certificates shows as a header that was not seen before.
ALTER TABLE signing_headers ADD COLUMN first_seen_at timestamptz;
ALTER TABLE signing_headers ALTER COLUMN first_seen_at SET DEFAULT now();
COMMENT ON COLUMN signing_headers.first_seen_at IS
    'When StoreLedger first stored the header: another certificate chain than before is a rotation; NULL before this was noted.';

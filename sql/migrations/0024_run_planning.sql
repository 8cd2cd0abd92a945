-- How is a run planned and continued without reading or rewriting more than it asks for?
--
-- A run's items are planned in batches, each in a short transaction, so an erasure never waits for a long list. Phase -1
-- lasts until the last batch is there; a process that is killed before continues with the list when it starts again.
ALTER TABLE runs
    ADD COLUMN begun_by uuid,
    ADD COLUMN is_retry boolean NOT NULL DEFAULT false,
    ADD COLUMN refunds_followed_until timestamptz;
COMMENT ON COLUMN runs.phase IS
    '-1: items are being planned; 0: notifications that name the customers; 1: histories and notifications; 2: refunds of the customers in whose history a revocation was seen.';
COMMENT ON COLUMN runs.begun_by IS
    'Random number of the invocation that began the run: tells it, after a lost connection, that the run is its own.';
COMMENT ON COLUMN runs.is_retry IS 'Whether the run asks only for items that failed in earlier runs.';
COMMENT ON COLUMN runs.refunds_followed_until IS
    'refundHistory with for: revoked: REFUND notifications stored before this moment have marked their customers; NULL when the run did not come so far.';

-- Whether refunds of a customer are still to be requested. It is set when a crawl reads a customer in whose history a
-- revocation was ever seen, and cleared when the refund history is planned.
ALTER TABLE crawl_items ADD COLUMN refunds_due boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN crawl_items.refunds_due IS
    'Whether this crawl has read a customer with a revocation whose refund history was not planned since.';
UPDATE crawl_items i SET refunds_due = true
 WHERE i.saw_revocation AND i.stream <> 'refundHistory' AND i.item_key ~ '^[0-9]{1,20}$'
   AND NOT EXISTS (SELECT FROM crawl_items r WHERE r.app_id = i.app_id AND r.job = i.job AND r.stream = 'refundHistory'
                      AND r.item_key = i.item_key AND r.state = 'done' AND r.complete_until >= i.complete_until);

-- With which filters a job planned each stream last: another value means that its items begin at their beginning.
CREATE TABLE planned_streams (
    app_id      integer NOT NULL REFERENCES apps,
    job         text    NOT NULL,
    stream      text    NOT NULL,
    fingerprint text    NOT NULL,
    PRIMARY KEY (app_id, job, stream)
);
INSERT INTO planned_streams
SELECT DISTINCT ON (app_id, job, stream) app_id, job, stream, fingerprint FROM crawl_items ORDER BY app_id, job, stream, run_id DESC;
COMMENT ON TABLE planned_streams IS 'The filters with which each stream of a job was planned last.';
COMMENT ON COLUMN planned_streams.app_id IS 'The app; see apps.';
COMMENT ON COLUMN planned_streams.job IS 'The name in the job file.';
COMMENT ON COLUMN planned_streams.stream IS 'transactionHistory, refundHistory or notificationHistory.';
COMMENT ON COLUMN planned_streams.fingerprint IS 'The filters, as in crawl_items.fingerprint.';

-- Customers that something else than a new notification has changed: jobs with changedSince request them as well.
CREATE TABLE changed_customers (
    app_id             integer     NOT NULL REFERENCES apps,
    mark_id            bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    transaction_id     text,
    app_transaction_id text,
    signed_date        timestamptz NOT NULL,
    marked_at          timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app_id, mark_id)
);
CREATE INDEX changed_customers_marked_at ON changed_customers (app_id, marked_at);
CREATE INDEX changed_customers_transaction_id ON changed_customers (app_id, transaction_id);
CREATE INDEX changed_customers_app_transaction_id ON changed_customers (app_id, app_transaction_id);
COMMENT ON TABLE changed_customers IS 'Customers whose records a replay accepted after their notification had been followed; a job with changedSince requests them.';
COMMENT ON COLUMN changed_customers.app_id IS 'The app; see apps.';
COMMENT ON COLUMN changed_customers.mark_id IS 'Our number for the row.';
COMMENT ON COLUMN changed_customers.transaction_id IS 'An original transaction ID or transaction ID of the customer.';
COMMENT ON COLUMN changed_customers.app_transaction_id IS 'The customer''s app transaction ID, where it is known.';
COMMENT ON COLUMN changed_customers.signed_date IS 'When Apple signed the record.';
COMMENT ON COLUMN changed_customers.marked_at IS 'When the replay accepted it.';

-- As in 0005, but only when the table has grown by a fifth since it had statistics: until then the planner knows enough,
-- and a run that plans a few items need not read 30,000 blocks.
CREATE OR REPLACE FUNCTION analyze_crawl_items() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF (SELECT pg_relation_size(c.oid) > greatest(65536, 1.2 * c.relpages * current_setting('block_size')::integer)
          FROM pg_class c WHERE c.oid = 'crawl_items'::regclass)
    THEN
        ANALYZE crawl_items;
    END IF;
END $$;

COMMENT ON COLUMN rejected_records.raw IS 'What came, as it came: the first 256 KiB, which is all of every record that is accepted.';

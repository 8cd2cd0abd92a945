-- What do partitions cost a look-up, and save in maintenance? Prints the milliseconds in docs/operations/partitions.md.
--
--   storeledger migrate JOB --partitions 16        or without the option, on an empty database
--   psql -v schema=appstore -v one=transactions_p3 -f scripts/lib/partitions-bench.sql      one=transactions for plain tables
--
-- A page is 20 records. The settings are the same as in StoreLedger's sessions.
\set QUIET on
\set ON_ERROR_STOP on
\pset tuples_only on
SET search_path = :schema; SET client_min_messages = warning;
SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off; SET plan_cache_mode = force_generic_plan;
INSERT INTO apps (bundle_id, environment) VALUES ('com.example.game', 'Production') ON CONFLICT DO NOTHING;
\timing on
\echo 500,000 transactions inserted
INSERT INTO transactions (app_id, transaction_id, original_transaction_id, product_id, purchase_date, signed_date, payload_sha256, payload)
SELECT 1, 2000000000000 + n::bigint * 7919 % 500009, 2000000000000 + n / 10 * 10, 'plus', now(), now(), sha256(int8send(n)), '{}'
  FROM generate_series(1, 500000) n;
\timing off
VACUUM ANALYZE transactions;
\timing on
\echo 2,000 pages found by transaction_id
DO $$
DECLARE
    keys  text[];
    found bigint;
BEGIN
    FOR page IN 1..2000 LOOP
        keys := ARRAY(SELECT (2000000000000 + (page * 7907 + n * 104729) % 500009)::text FROM generate_series(1, 20) n);
        SELECT count(*) INTO found FROM unnest(keys) w (key),
               LATERAL (SELECT FROM transactions h WHERE h.app_id = 1 AND h.transaction_id = w.key OFFSET 0) h;
    END LOOP;
END $$;
\echo 2,000 pages found by original_transaction_id
DO $$
DECLARE
    keys  text[];
    found bigint;
BEGIN
    FOR page IN 1..2000 LOOP
        keys := ARRAY(SELECT (2000000000000 + (page * 7907 + n * 104729) % 50000 * 10)::text FROM generate_series(1, 20) n);
        SELECT count(*) INTO found FROM unnest(keys) w (key),
               LATERAL (SELECT FROM transactions h WHERE h.app_id = 1 AND h.original_transaction_id = w.key OFFSET 0) h;
    END LOOP;
END $$;
\echo 200 pages found by transaction_id, planned each time
SET plan_cache_mode = force_custom_plan;
DO $$
DECLARE
    keys  text[];
    found bigint;
BEGIN
    FOR page IN 1..200 LOOP
        keys := ARRAY(SELECT (2000000000000 + (page * 7907 + n * 104729) % 500009)::text FROM generate_series(1, 20) n);
        SELECT count(*) INTO found FROM unnest(keys) w (key),
               LATERAL (SELECT FROM transactions h WHERE h.app_id = 1 AND h.transaction_id = w.key OFFSET 0) h;
    END LOOP;
END $$;
\echo REINDEX TABLE CONCURRENTLY :one
REINDEX TABLE CONCURRENTLY :one;

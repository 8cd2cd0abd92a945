-- Ends the stored statuses of a listed customer that Apple's answer no longer has.
--
-- :answered are the answered subscriptions, :statuses the statuses that were asked for, none for all. Rows are selected by ctid: the
-- table is never partitioned.
UPDATE subscription_statuses SET ended_at = :asked_at::timestamptz, asked_at = :asked_at, last_run_id = :run::bigint, last_changed_at = now()
 WHERE ctid = ANY (ARRAY(
    SELECT s.place FROM (
        SELECT DISTINCT t.original_transaction_id AS id FROM transactions t
         WHERE t.app_id = :app::integer AND t.listed_transaction_id = :listed_id::text AND t.original_transaction_id <> ALL (:answered::text[])
        OFFSET 0) own, LATERAL (
        SELECT s.ctid AS place FROM subscription_statuses s
         WHERE s.app_id = :app AND s.original_transaction_id = own.id AND s.ended_at IS NULL AND s.asked_at < :asked_at
           AND (s.status = ANY (:statuses::text[]::integer[]) OR cardinality(:statuses) = 0)
        OFFSET 0) s
     ORDER BY own.id COLLATE "C"))

-- One ID for each customer whom the stored notifications name, and whose histories were not requested since.
--
-- A notification names a purchase. Its customer is requested under the ID that earlier crawls used, because the cursor is there:
-- the purchase's own ID, or the one under whose history it, or another purchase of the customer, came. A notification about the
-- app alone names only customers who are known.
--
-- :streams and :filters   the streams of listed IDs and the filters of each
-- :since                  notifications signed before are not looked at; NULL for all
-- :late_since             notifications that were stored since then count at any age: by a replay, another job, or the second
--                         reading of their day. If only the second reading found a notification, the customer is requested unless
--                         the history was read after the run of that reading began: an earlier history may lack it.
-- :again                  whether customers who were requested since are requested again
-- :settling_milliseconds  how much later than a notification a history must have been read to show what the notification is about
-- :unknown_codes          Apple's codes for IDs that do not exist: such an item is left to `retry`
WITH asked AS (SELECT * FROM unnest(:streams::text[], :filters::text[]) AS a (stream, fingerprint)),
jobs AS (SELECT DISTINCT job FROM runs WHERE app_id = :app),
named AS MATERIALIZED (
    SELECT coalesce(n.original_transaction_id, n.transaction_id) AS id, n.app_transaction_id,
           max(greatest(n.signed_date, late.frozen_now - :settling_milliseconds::bigint * interval '1 millisecond')) AS at
      FROM notifications n LEFT JOIN runs late ON late.app_id = n.app_id AND late.run_id = n.late_run_id
     WHERE n.app_id = :app
       AND (n.signed_date >= coalesce(:since::timestamptz, '-infinity') OR n.first_seen_at >= :late_since::timestamptz)
       AND coalesce(n.original_transaction_id, n.transaction_id, n.app_transaction_id) IS NOT NULL
     GROUP BY 1, 2
     UNION ALL
    -- Received notifications that are not in the ledger's records yet.
    SELECT original_transaction_id, NULL, max(coalesce(signed_date, received_at)) FROM received_notifications
     WHERE app_id = :app AND normalised_at IS NULL AND refused_because IS NULL AND original_transaction_id IS NOT NULL
     GROUP BY 1
     UNION ALL
    SELECT transaction_id, app_transaction_id, max(marked_at) FROM changed_customers
     WHERE app_id = :app AND marked_at >= coalesce(:late_since::timestamptz, '-infinity') GROUP BY 1, 2
), known AS MATERIALIZED (
    SELECT n.*, coalesce(
               (SELECT i.item_key FROM crawl_items i
                 WHERE i.app_id = :app AND i.job = :job AND i.stream = ANY (:streams::text[]) AND i.item_key = n.id LIMIT 1),
               -- The ID under which a purchase of the customer was found; one that this job has requested comes first.
               (SELECT d.id FROM (SELECT DISTINCT t.listed_transaction_id AS id FROM transactions t
                                   WHERE t.app_id = :app AND t.original_transaction_id = n.id
                                     AND t.listed_transaction_id IS NOT NULL) d
                 ORDER BY EXISTS (SELECT FROM crawl_items i WHERE i.app_id = :app AND i.job = :job
                                     AND i.stream = ANY (:streams::text[]) AND i.item_key = d.id) DESC, d.id LIMIT 1),
               (SELECT d.id FROM (SELECT DISTINCT t.listed_transaction_id AS id FROM transactions t
                                   WHERE t.app_id = :app AND t.app_transaction_id = n.app_transaction_id
                                     AND t.listed_transaction_id IS NOT NULL) d
                 ORDER BY EXISTS (SELECT FROM crawl_items i WHERE i.app_id = :app AND i.job = :job
                                     AND i.stream = ANY (:streams::text[]) AND i.item_key = d.id) DESC, d.id LIMIT 1)
           ) AS item_key
      FROM named n
), customers AS (
    SELECT coalesce(item_key, min(id) OVER (PARTITION BY coalesce('app ' || app_transaction_id, id))) AS item_key, at
      FROM known WHERE coalesce(item_key, id) ~ '^[0-9]{1,20}$'
), latest AS (
    SELECT item_key, max(at) AS at FROM customers GROUP BY item_key
)
SELECT l.item_key FROM latest l
 WHERE :again::boolean
    OR EXISTS (SELECT FROM asked a WHERE NOT EXISTS (
           SELECT FROM jobs j JOIN crawl_items i
               ON i.app_id = :app AND i.job = j.job AND i.stream = a.stream AND i.item_key = l.item_key
            WHERE i.fingerprint = a.fingerprint AND i.other_environment IS NULL
              AND i.complete_until >= l.at + :settling_milliseconds::bigint * interval '1 millisecond'))
 UNION
SELECT i.item_key FROM crawl_items i
 WHERE i.app_id = :app AND i.job = :job AND i.stream = ANY (:streams::text[]) AND i.state IN ('failed', 'superseded')
   AND i.item_key ~ '^[0-9]{1,20}$' AND coalesce(i.error_code, 0) <> ALL (:unknown_codes::text[]::bigint[])
 UNION
-- Items with rejected records: Apple may send the records intact now.
SELECT i.item_key FROM crawl_items i
 WHERE i.app_id = :app AND i.job = :job AND i.stream = ANY (:streams::text[]) AND i.item_key ~ '^[0-9]{1,20}$'
   AND (i.stream, i.item_key) IN (
           SELECT r.stream, r.item_key FROM apps own JOIN apps a USING (bundle_id) JOIN rejected_records r ON r.app_id = a.app_id
            WHERE own.app_id = :app AND r.job = :job AND r.resolved_at IS NULL AND r.dismissed_at IS NULL)

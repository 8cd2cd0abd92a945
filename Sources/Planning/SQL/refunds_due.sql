-- The customers whose refunds a run requests.
--
-- :all_runs says whether customers of other runs count: where notifications name the customers, nothing else may ever name them
-- again. :streams are the streams of transaction IDs; another item's key, such as an order ID, can look like a transaction ID.
-- :unknown_codes are Apple's codes for IDs that do not exist; those are left to `retry`.
SELECT i.item_key FROM crawl_items i
 WHERE i.app_id = :app AND i.job = :job AND i.refunds_due AND (i.run_id = :run OR :all_runs::boolean)
   AND i.stream = ANY (:streams::text[]) AND i.item_key ~ '^[0-9]{1,20}$'
 UNION
SELECT i.item_key FROM crawl_items i
 WHERE :all_runs AND i.app_id = :app AND i.job = :job AND i.stream = ANY (:refund_streams::text[]) AND i.state IN ('failed', 'superseded')
   AND coalesce(i.error_code, 0) <> ALL (:unknown_codes::text[]::bigint[])

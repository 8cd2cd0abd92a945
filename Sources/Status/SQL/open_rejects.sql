-- The rejected records of a job that count, oldest first: neither loaded since nor dismissed.
--
-- :after         only records with a larger ID
-- :text_columns  stands for the columns with the text and its hash, which not every role may read, or for nothing
SELECT r.record_id, a.environment, r.stream, r.item_key, r.reason, r.detail, r.seen_count,
       to_char(r.first_seen_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS first_seen,
       to_char(r.last_seen_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS last_seen
       :text_columns
  FROM apps a JOIN rejected_records r USING (app_id)
 WHERE a.app_id IN (:apps_of_rejects) AND r.job = :job AND r.resolved_at IS NULL AND r.dismissed_at IS NULL
   AND r.record_id > :after
 ORDER BY r.record_id LIMIT :count::bigint

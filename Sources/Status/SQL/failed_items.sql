-- Failed items of a job, by stream and key: the :count that follow :after_stream and :after_item.
--
-- With :stream only those that failed with this :message and :code.
SELECT stream, item_key, error_code, coalesce(error_message, '') AS message, request_count, run_id,
       to_char(finished_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS failed
  FROM crawl_items
 WHERE app_id = :app AND job = :job AND state = 'failed' AND (stream, item_key) > (:after_stream::text, :after_item::text)
   AND (:stream::text IS NULL
        OR (stream, coalesce(error_message, '')) = (:stream, :message::text)
            AND error_code IS NOT DISTINCT FROM :code::bigint)
 ORDER BY stream, item_key LIMIT :count::bigint

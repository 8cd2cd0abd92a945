-- Dismisses every stored text of the records; the row count says how many.
UPDATE rejected_records r SET dismissed_at = clock_timestamp()
 WHERE r.resolved_at IS NULL AND r.dismissed_at IS NULL
   AND (r.record_id = ANY (:records::text[]::bigint[])
    OR (r.app_id, r.reason, r.identity) IN (SELECT n.app_id, n.reason, n.identity FROM rejected_records n
        WHERE n.record_id = ANY (:records::text[]::bigint[])))

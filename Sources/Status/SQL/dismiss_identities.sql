-- Dismisses the identities of rejected records: the same records do not count any more, even if a run receives them again.
INSERT INTO quarantined_records AS q (app_id, reason, identity, record_id, dismissed_at)
SELECT app_id, reason, identity, min(record_id), clock_timestamp() FROM rejected_records
 WHERE record_id = ANY (:records::text[]::bigint[]) AND identity IS NOT NULL
 GROUP BY app_id, reason, identity ORDER BY app_id, reason, identity
ON CONFLICT (app_id, reason, identity) DO UPDATE SET dismissed_at = coalesce(q.dismissed_at, excluded.dismissed_at)

-- Records of the job that were rejected, by reason and history.
SELECT reason, stream, sum(records) AS records, to_char(min(first_seen_at), 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS first,
       to_char(max(last_seen_at), 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS last
  FROM rejected_records_by_reason WHERE app_id IN (:apps_of_rejects) AND job = :job
 GROUP BY reason, stream ORDER BY sum(records) DESC, reason, stream

-- title: Records rejected
-- section: operations
-- means: Records of the job that could not be loaded, by reason; storeledger status has examples, with a role that may read the tables.
-- docs: ../troubleshooting.md
-- nothing: Nothing is rejected.
-- views: rejected_records_by_reason masked_apps masked_runs
-- flags: plain
-- column: reason | text | Reason
-- column: stream | text | History
-- column: records | count | Records
-- column: first | moment | First came, UTC
-- column: last | moment | Last came, UTC
SELECT reason, stream, sum(records) AS records, to_char(min(first_seen_at), 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS first,
       to_char(max(last_seen_at), 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS last
  FROM rejected_records_by_reason WHERE app_id IN (:apps_of_rejects) AND job = :job
 GROUP BY reason, stream ORDER BY sum(records) DESC, reason, stream

-- What reconciliations found for the days of the last month, by Apple's signature.
SELECT v.day::text AS day, sum(in_history) AS in_history, sum(received) AS received, sum(received_and_in_history) AS both,
       sum(recovered) AS recovered, sum(answered_but_missing) AS missing,
       sum(to_be_read_again + unexplained + unprovable) AS unexplained, to_char(max(checked_at), 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS checked
  FROM notification_completeness_by_day v WHERE app_id = :app AND v.day >= (now() - interval '30 days')::date
 GROUP BY v.day ORDER BY v.day DESC

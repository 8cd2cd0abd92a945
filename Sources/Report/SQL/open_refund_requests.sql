-- Refund requests within their deadline, by the state of the answer.
SELECT coalesce(answer_state, 'no answer') AS answer, count(DISTINCT transaction_id) AS requests,
       to_char(min(answer_until), 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS first,
       to_char(max(answer_until), 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS last
  FROM consumption_requests WHERE app_id = :app AND is_open
 GROUP BY answer_state ORDER BY min(answer_until), 1

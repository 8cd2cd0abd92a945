-- title: Open refund requests
-- section: actions
-- means: Refund requests within the twelve hours in which Apple waits for consumption information, by the state of the answer.
-- note: Only answers that storeledger sent are known.
-- docs: ../guides/actions.md
-- nothing: No refund request is open.
-- views: consumption_requests
-- flags: plain
-- column: answer | text | Answer
-- column: requests | count | Requests
-- column: first | moment | First deadline, UTC
-- column: last | moment | Last deadline, UTC
SELECT coalesce(answer_state, 'no answer') AS answer, count(DISTINCT transaction_id) AS requests,
       to_char(min(answer_until), 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS first,
       to_char(max(answer_until), 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS last
  FROM consumption_requests WHERE app_id = :app AND is_open
 GROUP BY answer_state ORDER BY min(answer_until), 1

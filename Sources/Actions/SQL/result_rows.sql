-- The rows of one result file, in the order of the input.
SELECT position, input, state,
       CASE WHEN reason IS NOT NULL THEN format('%s: %s', verdict, reason)
            WHEN state = 'cancelled' AND ended_at IS NOT NULL THEN apple_message END AS reason,
       request_id::text, http_status, apple_code, apple_message, confirmed_by,
       to_char(first_sent_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS sent_at,
       to_char(ended_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS ended_at, answer::text
  FROM action_rows
 WHERE app_id = :app AND batch_id = :batch AND state = ANY (:states::text[]) AND position > :after
 ORDER BY position LIMIT :count::bigint

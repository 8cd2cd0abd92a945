-- The rows of one result file, in the order of the input, of an action that groups rows.
--
-- Each line of a report that Apple refused has the errors of the line, and the errors of the report as a whole.
WITH page AS (
    SELECT i.input_position, i.input, i.line_item_id, i.reason AS own_reason, r.position, r.state, r.verdict, r.request_id, r.http_status,
           r.apple_code, r.apple_message, r.confirmed_by, r.first_sent_at, r.ended_at, r.answer
      FROM action_input_rows i
      JOIN action_rows r ON r.app_id = i.app_id AND r.batch_id = i.batch_id AND r.position = i.position
     WHERE i.app_id = :app AND i.batch_id = :batch AND r.state = ANY (:states::text[]) AND i.input_position > :after
     ORDER BY i.input_position LIMIT :count::bigint
), errors AS MATERIALIZED (
    SELECT p.position, e.error ->> 'lineItemId' AS line_item_id, (array_agg((e.error ->> 'errorCode')::bigint ORDER BY e.place))[1] AS code,
           string_agg(concat_ws(' ', e.error ->> 'errorMessage', '(' || (e.error ->> 'fieldName') || ')'), '; ' ORDER BY e.place) AS message
      FROM (SELECT DISTINCT ON (position) position, answer FROM page WHERE state = 'rejected') p,
           jsonb_array_elements(p.answer -> 'errors') WITH ORDINALITY e (error, place)
     GROUP BY 1, 2
)
SELECT p.input_position AS position, p.input, p.state,
       CASE WHEN p.own_reason IS NOT NULL THEN format('%s: %s', p.verdict, p.own_reason)
            WHEN p.state = 'cancelled' AND p.ended_at IS NOT NULL THEN p.apple_message
            WHEN p.state = 'rejected' AND p.answer ? 'errors' AND own.code IS NULL AND whole.code IS NULL
                THEN format('Apple refused the report because of other lines: %s', p.apple_message) END AS reason,
       p.request_id::text, p.http_status,
       CASE WHEN p.state = 'rejected' AND p.answer ? 'errors' THEN coalesce(own.code, whole.code) ELSE p.apple_code END AS apple_code,
       CASE WHEN p.state = 'rejected' AND p.answer ? 'errors' THEN nullif(concat_ws('; ', own.message, whole.message), '') ELSE p.apple_message END AS apple_message,
       p.confirmed_by,
       to_char(p.first_sent_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS sent_at,
       to_char(p.ended_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS ended_at,
       CASE WHEN p.state <> 'rejected' THEN p.answer::text END AS answer
  FROM page p
  LEFT JOIN errors own ON own.position = p.position AND own.line_item_id = p.line_item_id
  LEFT JOIN errors whole ON whole.position = p.position AND whole.line_item_id IS NULL
 ORDER BY p.input_position

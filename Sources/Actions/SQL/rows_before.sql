-- The rows of the batch that a row waits for: rows about its subjects, and rows of the kinds that come before it.
SELECT r.subject, r.parameters ->> 'kind' AS kind, r.state, coalesce(r.answer ? 'accepted', false) AS is_accepted,
       coalesce(r.apple_message, 'its outcome is not known') AS reason,
       r.ended_at IS NOT NULL AS has_ended, r.ended_at IS NULL AND r.claimable_at IS NULL AS is_left
  FROM action_rows r
 WHERE r.app_id = :app AND r.batch_id = :batch AND r.verdict = 'valid'
   AND (r.subject = ANY (:subjects::text[]) AND r.parameters ->> 'kind' IN ('image', 'message')
        OR r.parameters ->> 'kind' = ANY (:kinds::text[]))
 ORDER BY r.position

-- The values of the last upload of each subject. Apple has accepted the upload, or may have; the result of the review does not matter.
SELECT DISTINCT ON (r.subject) r.subject, r.parameters
  FROM action_rows r JOIN action_batches b ON b.app_id = r.app_id AND b.batch_id = r.batch_id
 WHERE r.app_id = :app AND r.subject = ANY (:subjects::text[]) AND b.action = :action AND r.verdict = 'valid'
   AND r.parameters ->> 'kind' IN ('image', 'message')
   AND (r.state = 'succeeded' OR r.may_be_applied OR r.answer ? 'accepted')
 ORDER BY r.subject, r.first_sent_at DESC NULLS LAST, r.position

-- Whether a request of another row with the same subject and action is at Apple.
--
-- An attempt of a process that lost its lease does not count: the next process finds out its outcome.
SELECT EXISTS (
    SELECT FROM action_rows r
      JOIN action_batches b ON b.app_id = r.app_id AND b.batch_id = r.batch_id
      JOIN action_attempts a ON a.app_id = r.app_id AND a.batch_id = r.batch_id AND a.position = r.position
     WHERE r.app_id = :app AND r.subject = :subject AND b.action = :action AND (r.batch_id, r.position) <> (:batch::uuid, :position::bigint)
       AND r.lease_owner IS NOT NULL AND r.claimable_at > clock_timestamp() AND a.ended_at IS NULL AND a.purpose IN ('send', 'repeat')
) AS is_in_flight

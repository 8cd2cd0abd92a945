-- The last cohorts of price changes: told, accepted, renewed or lost.
SELECT left(batch, 12) AS batch, job,
       to_char(planned_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS planned_at,
       to_char(started_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS started,
       planned, sent,
       communicated, accepted, renewed, lost, expired, undecided, churn
  FROM price_changes_by_batch v WHERE app_id = :app ORDER BY v.planned_at DESC, v.batch LIMIT 20

-- The jobs with batches of actions, without removed ones, each with its last action.
SELECT a.bundle_id, a.environment, b.job, (array_agg(b.action ORDER BY b.planned_at DESC))[1] AS action,
       to_char(max(b.started_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS started,
       to_char(max(b.finished_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS complete,
       CASE WHEN sum(b.in_hand) > 0 THEN 'running' WHEN sum(b.waiting + b.unknown) > 0 THEN 'unfinished'
            ELSE 'finished' END AS state
  FROM actions_by_batch b JOIN apps a USING (app_id) WHERE b.removed_at IS NULL
 GROUP BY a.bundle_id, a.environment, b.job

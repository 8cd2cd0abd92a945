-- How fast received notifications became rows in the last day, and what reconciliations found for the last days.
--
-- :app   the app
-- :days  how many days of reconciliations are summed
SELECT to_char(received.last_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS last_received_at,
       stored.notifications AS stored_last_day, stored.median AS median_seconds_to_row, stored.worst AS worst_seconds_to_row,
       found.last_day AS reconciled_day, to_json(found) AS reconciled
  FROM (SELECT max(received_at) AS last_at FROM received_notifications WHERE app_id = :app) received,
       (SELECT count(*) AS notifications,
               round(percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds)::numeric, 3) AS median,
               round(max(seconds), 3) AS worst
          FROM (SELECT greatest(extract(epoch FROM normalised_at - signed_date), 0) AS seconds FROM received_notifications
                 WHERE app_id = :app AND received_at > now() - interval '1 day' AND version = 2 AND normalised_at IS NOT NULL) n) stored,
       (SELECT max(day)::text AS last_day,
               coalesce(sum(received_and_in_history) FILTER (WHERE is_recent), 0)::bigint AS received_and_in_history,
               coalesce(sum(recovered) FILTER (WHERE is_recent), 0)::bigint AS recovered,
               coalesce(sum(answered_but_missing) FILTER (WHERE is_recent), 0)::bigint AS answered_but_missing,
               coalesce(sum(to_be_read_again) FILTER (WHERE is_recent), 0)::bigint AS to_be_read_again,
               coalesce(sum(unexplained) FILTER (WHERE is_recent), 0)::bigint AS unexplained,
               coalesce(sum(unprovable) FILTER (WHERE is_recent), 0)::bigint AS unprovable
          FROM (SELECT *, day >= (now() AT TIME ZONE 'UTC')::date - :days::integer AS is_recent
                  FROM notification_completeness_by_day WHERE app_id = :app) c) found
 WHERE received.last_at IS NOT NULL

-- Compares the notifications that Apple signed on one closed day and that the receiver stored with Apple's history, by type, and
-- stores the result.
--
-- :app            the app
-- :day            the day in UTC, as a date
-- :starts_at      from when notifications of the day are compared
-- :ends_at        the end of the day
-- :now            the time of the check
-- :is_served      whether Apple still serves the day
-- :read_again_at  when the last run that read the whole day in one window began; NULL if none did
-- :is_final       whether notifications that are not in the history count as unexplained at once
-- :unlisted_types types that Apple does not say its history has; a missing one is not unexplained
--
-- The result is the stored rows, with the UUID of a notification that was lost and of one that is not in the history.
WITH started AS (
    SELECT min(received_at) AS at FROM received_notifications WHERE app_id = :app AND version = 2 AND refused_because IS NULL
), received AS (
    SELECT r.notification_uuid, coalesce(r.notification_type, '') AS notification_type,
           EXISTS (SELECT FROM notification_send_attempts a
                    WHERE a.app_id = r.app_id AND a.notification_uuid = r.notification_uuid) AS is_listed
      FROM received_notifications r
     WHERE r.app_id = :app AND r.signed_date >= :starts_at::timestamptz AND r.signed_date < :ends_at::timestamptz
       AND r.version = 2 AND r.refused_because IS NULL
       -- A row of an erased customer has no notification.
       AND (r.normalised_at IS NULL
            OR EXISTS (SELECT FROM notifications n WHERE n.app_id = r.app_id AND n.notification_uuid = r.notification_uuid))
), only_listed AS (
    SELECT n.notification_uuid, n.notification_type, a.was_answered, a.last_result
      FROM started CROSS JOIN notifications n
      CROSS JOIN LATERAL (
          SELECT coalesce(bool_or(s.send_attempt_result = 'SUCCESS' AND s.attempt_date >= started.at), false) AS was_answered,
                 max(s.attempt_date) AS last_at, (array_agg(s.send_attempt_result ORDER BY s.attempt_date DESC))[1] AS last_result
            FROM notification_send_attempts s WHERE s.app_id = n.app_id AND s.notification_uuid = n.notification_uuid
      ) a
     WHERE n.app_id = :app AND n.signed_date >= :starts_at AND n.signed_date < :ends_at AND a.last_at >= started.at
       AND NOT EXISTS (SELECT FROM received_notifications r
                        WHERE r.app_id = n.app_id AND r.notification_uuid = n.notification_uuid AND r.refused_because IS NULL)
), results AS (
    SELECT notification_type, jsonb_object_agg(last_result, notifications) AS by_result
      FROM (SELECT notification_type, coalesce(last_result, '') AS last_result, count(*) AS notifications
              FROM only_listed WHERE NOT was_answered GROUP BY 1, 2) r
     GROUP BY notification_type
), counts AS (
    SELECT notification_type, count(*) FILTER (WHERE is_received) AS received,
           count(*) FILTER (WHERE is_received AND is_listed) AS in_both, count(*) FILTER (WHERE NOT is_received AND NOT was_answered) AS recovered,
           count(*) FILTER (WHERE was_answered) AS lost,
           count(*) FILTER (WHERE NOT is_listed AND notification_type <> ALL (:unlisted_types::text[])) AS not_listed,
           min(notification_uuid) FILTER (WHERE was_answered) AS lost_example,
           min(notification_uuid) FILTER (WHERE NOT is_listed AND notification_type <> ALL (:unlisted_types)) AS not_listed_example
      FROM (SELECT notification_uuid, notification_type, true AS is_received, is_listed, false AS was_answered FROM received
             UNION ALL
            SELECT notification_uuid, notification_type, false, true, was_answered FROM only_listed) n
     GROUP BY notification_type
), earlier AS (
    SELECT notification_type, unexplained, not_listed_since FROM notification_reconciliation WHERE app_id = :app AND day = :day::date
), merged AS (
    -- A type without notifications now keeps a row of zeros: its customers may have been erased.
    SELECT notification_type, coalesce(c.received, 0) AS received, coalesce(c.in_both, 0) AS in_both, coalesce(c.recovered, 0) AS recovered,
           coalesce(r.by_result, '{}') AS by_result, coalesce(c.lost, 0) AS lost, coalesce(c.not_listed, 0) AS not_listed,
           CASE WHEN c.not_listed > 0 THEN coalesce(e.not_listed_since, :now::timestamptz) END AS not_listed_since,
           CASE WHEN e.unexplained > 0 OR :read_again_at::timestamptz > e.not_listed_since THEN 'unexplained'
                WHEN NOT :is_served::boolean THEN 'unprovable'
                WHEN :is_final::boolean THEN 'unexplained' ELSE 'to be read again' END AS state,
           c.lost_example, c.not_listed_example
      FROM counts c FULL JOIN earlier e USING (notification_type) LEFT JOIN results r USING (notification_type)
), stored AS (
    INSERT INTO notification_reconciliation AS t
        (app_id, day, notification_type, received, in_history, received_and_in_history, recovered, recovered_by_result,
         answered_but_missing, to_be_read_again, unexplained, unprovable, not_listed_since, checked_at)
    SELECT :app::integer, :day::date, notification_type, received, in_both + recovered + lost, in_both, recovered, by_result, lost,
           CASE state WHEN 'to be read again' THEN not_listed ELSE 0 END, CASE state WHEN 'unexplained' THEN not_listed ELSE 0 END,
           CASE state WHEN 'unprovable' THEN not_listed ELSE 0 END, not_listed_since, :now
      FROM merged ORDER BY notification_type COLLATE "C"
    ON CONFLICT (app_id, day, notification_type) DO UPDATE SET
        received = excluded.received, in_history = excluded.in_history, received_and_in_history = excluded.received_and_in_history,
        recovered = excluded.recovered, recovered_by_result = excluded.recovered_by_result,
        answered_but_missing = excluded.answered_but_missing, to_be_read_again = excluded.to_be_read_again,
        unexplained = excluded.unexplained, unprovable = excluded.unprovable, not_listed_since = excluded.not_listed_since,
        checked_at = excluded.checked_at
    RETURNING t.*
)
SELECT s.notification_type, s.received, s.in_history, s.received_and_in_history, s.recovered, s.recovered_by_result::text AS by_result,
       s.answered_but_missing, s.to_be_read_again, s.unexplained, s.unprovable, m.lost_example, m.not_listed_example
  FROM stored s JOIN merged m USING (notification_type)
 ORDER BY s.notification_type COLLATE "C"

-- The closed UTC days since the receiver's first notification that have to be checked, and how far runs have read Apple's history
-- of them.
--
-- A day is checked until nothing about it can change: until Apple's retries have ended, and the day was read for the last time
-- after that. It is checked again when a run has read it again.
--
-- :app            the app
-- :stream         the stream that reads notifications
-- :queries        the filters of the windows that have all notifications
-- :now            the moment until which days are closed
-- :oldest         Apple serves notifications from this moment on
-- :settled_after  how long after its end the result of a day can change, in milliseconds
--
-- Result columns:
--
-- day             the day, as a date
-- starts_at       from when the day is compared: its beginning, or on the first day the first notification
-- ends_at         the end of the day
-- is_read         whether finished windows have the whole time
-- is_served       whether Apple serves the whole day
-- read_again_at   when the last run that read the whole day in one window began; NULL if none did
WITH started AS (
    SELECT min(received_at) AS at FROM received_notifications WHERE app_id = :app AND version = 2 AND refused_because IS NULL
), first AS (
    -- Apple ends its retries 157 hours after the first attempt, so nothing that came later was signed before.
    SELECT min(r.signed_date) AS signed_at FROM started s, received_notifications r
     WHERE r.app_id = :app AND r.received_at < s.at + interval '8 days' AND r.version = 2 AND r.refused_because IS NULL
), days AS (
    SELECT day, greatest(day, f.signed_at) AS starts_at, day + interval '24 hours' AS ends_at
      FROM first f,
           generate_series(date_trunc('day', f.signed_at, 'UTC'), :now::timestamptz - interval '24 hours', interval '24 hours') AS day
), windows AS MATERIALIZED (
    -- The keys of windows begin with a time in milliseconds, so a range of the primary key finds them.
    SELECT i.window_start, i.window_end, r.frozen_now
      FROM first f CROSS JOIN (SELECT DISTINCT job FROM runs WHERE app_id = :app) j
      JOIN crawl_items i ON i.app_id = :app AND i.job = j.job AND i.stream = :stream::text
                        AND i.item_key >= (extract(epoch FROM f.signed_at - interval '48 hours') * 1000)::bigint::text
      JOIN runs r ON r.app_id = i.app_id AND r.run_id = i.run_id
     WHERE i.fingerprint = ANY (:queries::text[]) AND i.state = 'done' AND i.window_start < i.window_end AND i.item_key LIKE '%..%'
), read_times AS (
    SELECT coalesce(range_agg(tstzrange(window_start, window_end)), '{}') AS times FROM windows
), checks AS (
    SELECT day, min(checked_at) AS checked_at, sum(to_be_read_again) AS to_be_read_again
      FROM notification_reconciliation WHERE app_id = :app GROUP BY day
), readings AS (
    SELECT d.*, d.starts_at >= :oldest::timestamptz AS is_served, t.times @> tstzrange(d.starts_at, d.ends_at) AS is_read,
           (SELECT max(w.frozen_now) FROM windows w WHERE w.window_start <= d.starts_at AND w.window_end >= d.ends_at) AS read_again_at
      FROM days d CROSS JOIN read_times t
)
SELECT (r.day AT TIME ZONE 'UTC')::date AS day, r.starts_at, r.ends_at, r.is_read, r.is_served, r.read_again_at
  FROM readings r LEFT JOIN checks c ON c.day = (r.day AT TIME ZONE 'UTC')::date
 WHERE (c.checked_at IS NULL AND (r.is_served OR r.is_read OR EXISTS (
               SELECT FROM received_notifications n WHERE n.app_id = :app AND n.signed_date >= r.starts_at AND n.signed_date < r.ends_at)))
    OR c.to_be_read_again > 0
    OR c.checked_at < r.ends_at + :settled_after::bigint * interval '1 millisecond'
    OR c.checked_at < r.read_again_at
 ORDER BY r.day

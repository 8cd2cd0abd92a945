-- A part of statements: closed days that the job has read, but not since Apple's last delivery attempts for them.
--
-- A day consists of the job's windows in it. It is due :second_reading_delay after its end, when all these windows are done. A day
-- needs no second reading if one window covered it in a run that began after the day was due, as for the old days of a first run.
--
-- The keys of windows begin with a moment in milliseconds. So a range of the primary key finds the windows that Apple still serves,
-- and the cost does not grow with the ledger.
--
-- :first_key  the first key that Apple serves
-- :oldest     the oldest date that Apple serves
-- :due_until  the latest end of a due day
-- :key_end    the end of the keys
WITH pieces AS (
    SELECT date_trunc('day', i.window_start, 'UTC') AS day, i.window_start, i.window_end, i.state, r.frozen_now
      FROM crawl_items i JOIN runs r ON r.app_id = i.app_id AND r.run_id = i.run_id
     WHERE i.app_id = :app::integer AND i.job = :job::text AND i.stream = :stream::text AND i.fingerprint = :filters::text
       AND i.item_key >= :first_key::text AND :is_first_reading
       AND i.window_end > :oldest::timestamptz AND i.window_start < :due_until::timestamptz
), days AS (
    SELECT day, min(window_start) AS window_start, max(window_end) AS window_end,
           (extract(epoch FROM day) * 1000)::bigint || '..' || (extract(epoch FROM day) * 1000 + 86400000)::bigint
               || :key_end::text AS item_key
      FROM pieces GROUP BY day HAVING bool_and(state = 'done')
)
SELECT d.item_key, greatest(d.window_start, :oldest) AS window_start, d.window_end
  FROM days d
 WHERE d.day + interval '24 hours' <= :due_until
   AND NOT EXISTS (SELECT FROM pieces p
                    WHERE p.day = d.day AND p.window_start <= d.window_start AND p.window_end >= d.window_end
                      AND p.frozen_now >= d.day + interval '24 hours'
                                        + interval :second_reading_delay)
   AND NOT EXISTS (SELECT FROM crawl_items i
                    WHERE i.app_id = :app AND i.job = :job AND i.stream = :stream AND i.item_key = d.item_key)

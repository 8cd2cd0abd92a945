-- Moves a run on from the phase of notifications to that of histories; the row count says whether it did.
--
-- followed_until is until when the run has followed notifications: its end, or the start of the first window that it could not
-- finish. Only first readings count. Later readings find late notifications, and changed_customers.sql finds those by the time at
-- which they were stored.
--
-- :until   the run's end; NULL if the run does not follow where an earlier one ended
-- :oldest  the oldest date that Apple serves
UPDATE runs SET phase = 1, listed_ids = :listed, withheld_ids = :withheld, followed_until = (
           SELECT least(:until::timestamptz, min(i.window_start)) FROM crawl_items i
            WHERE i.app_id = :app AND i.job = :job AND i.stream = ANY (:window_streams::text[]) AND i.run_id = :run
              AND i.state <> 'done' AND i.window_end > :oldest::timestamptz AND :until::timestamptz IS NOT NULL
              AND :is_first_reading)
 WHERE app_id = :app AND run_id = :run AND phase = 0 AND finished_at IS NULL

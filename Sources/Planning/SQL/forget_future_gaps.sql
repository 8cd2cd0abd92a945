-- Deletes the gaps of runs from the future unless Apple no longer serves their time.
--
-- Such a run computes too late a date for Apple's oldest notification, so it records false gaps. :oldest is the oldest date that
-- Apple serves.
DELETE FROM coverage_gaps
 WHERE app_id = :app AND job = :job AND stream = :stream AND gap_end > :oldest::timestamptz
   AND run_id IN (:future_runs)

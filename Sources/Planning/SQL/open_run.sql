-- The run of a job that has not ended, and whether it began while PostgreSQL's clock was ahead.
--
-- :lock stands for FOR UPDATE if the run stays open until the transaction ends, else for nothing.
SELECT run_id, fingerprint, frozen_now, restarted, is_retry, phase, server, coalesce(trusted_roots, '{}') AS roots,
       uuid_send(begun_by) AS begun_by,
       frozen_now > :latest_moment AS is_from_the_future
  FROM runs WHERE app_id = :app AND job = :job AND finished_at IS NULL :lock

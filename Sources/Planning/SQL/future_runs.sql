-- A part of statements: the job's runs from the future.
SELECT run_id FROM runs WHERE app_id = :app AND job = :job AND frozen_now > :latest_moment

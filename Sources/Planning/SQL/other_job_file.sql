-- The job file of the job's last run, if that run requested something else: other streams, or only one of the two takes its customers
-- from notifications.
SELECT job_file, job_host, streams_fingerprint <> :streams_fingerprint AS has_other_streams FROM runs
 WHERE app_id = :app AND job = :job AND job_file IS NOT NULL
   AND run_id = (SELECT max(run_id) FROM runs WHERE app_id = :app AND job = :job)
   AND (streams_fingerprint <> :streams_fingerprint OR fingerprint <> :fingerprint
        AND (customers_since IS NOT NULL) <> :follows_notifications)

-- Inserts a new run; parameters are named after columns. :now is the moment to which the run reads.
INSERT INTO runs
    (app_id, job, fingerprint, frozen_now, version, restarted, phase, is_retry, begun_by, server, trusted_roots,
     job_file, job_host, streams_fingerprint, customers_since)
VALUES (:app, :job, :fingerprint, :now, :version, :restarted, :phase, :is_retry, :begun_by, :server, :trusted_roots,
        :job_file, :job_host, :streams_fingerprint, :customers_since)
RETURNING run_id

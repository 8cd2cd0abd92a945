COMMENT ON TABLE runs IS 'One row per run of a job, with its times, result and counts. Several processes can work on one run.';
COMMENT ON COLUMN runs.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN runs.run_id IS 'The number of the run. It grows with every run of any job.';
COMMENT ON COLUMN runs.job IS 'The name in the job file; "NAME (removed)" after storeledger jobs remove NAME.';
COMMENT ON COLUMN runs.fingerprint IS
    'SHA-256 of the job''s streams, filters and source of IDs when the run began. A run with another fingerprint supersedes an unfinished run.';
COMMENT ON COLUMN runs.phase IS
    '-1: items are being planned. 0: notifications that identify changed customers. 1: histories and notifications. 2: refund histories of customers whose history has a revocation.';
COMMENT ON COLUMN runs.frozen_now IS 'The time that "now" in the job file means for this run.';
COMMENT ON COLUMN runs.started_at IS 'When the first process began the run.';
COMMENT ON COLUMN runs.finished_at IS
    'When every item was done or failed, or when another run superseded this one. NULL while work is left.';
COMMENT ON COLUMN runs.exit_code IS
    'Exit code of the process that last worked on the run: 0 complete, 2 complete but something is missing or rejected, 75 stopped with work left; docs/reference/exit-codes.md has all. NULL until one has ended in order.';
COMMENT ON COLUMN runs.message IS 'Why the run stopped with work left, in one sentence.';
COMMENT ON COLUMN runs.version IS 'Version of storeledger that began the run.';
COMMENT ON COLUMN runs.restarted IS 'Whether the run was begun with --restart.';
COMMENT ON COLUMN runs.listed_ids IS 'Distinct transaction IDs in the job''s list when the run began.';
COMMENT ON COLUMN runs.duplicate_ids IS 'Duplicate IDs in the list, which were dropped.';
COMMENT ON COLUMN runs.items IS 'Work items of the run, as last counted.';
COMMENT ON COLUMN runs.items_failed IS 'Items that ended with an error, as last counted.';
COMMENT ON COLUMN runs.pages IS 'Pages committed, as last counted.';
COMMENT ON COLUMN runs.requests IS 'Requests sent for committed pages and finished items, retries included, as last counted.';
COMMENT ON COLUMN runs.rows_new IS 'Records that the ledger did not have.';
COMMENT ON COLUMN runs.rows_updated IS 'Records that replaced an older snapshot.';
COMMENT ON COLUMN runs.rows_unchanged IS 'Records that the ledger already had, in the same or a newer version.';
COMMENT ON COLUMN runs.records_rejected IS 'Records that were stored in rejected_records and not loaded.';
COMMENT ON COLUMN runs.gaps IS 'Time ranges found by the run that Apple no longer serves.';
COMMENT ON COLUMN runs.records_withheld IS 'Records of erased customers that Apple returned. They were not stored.';
COMMENT ON COLUMN runs.withheld_ids IS 'Listed IDs of erased customers. They were not requested.';
COMMENT ON COLUMN runs.followed_until IS
    'changedSince: the customers in notifications signed before this time are requested by this run or an earlier one. NULL if the run ended before this step.';
COMMENT ON COLUMN runs.server IS
    'The server (appStore.baseURL) when the run began. NULL for runs that began before StoreLedger recorded it.';
COMMENT ON COLUMN runs.trusted_roots IS
    'SHA-256 of each trusted root certificate when the run began. NULL for runs that began before StoreLedger recorded them.';
COMMENT ON COLUMN runs.stopped_for_rejects_at IS
    'When a process last stopped because 1 in 20 of the records it received for the first time failed verification. The run does not stop for that reason again.';
COMMENT ON COLUMN runs.begun_by IS
    'Random number of the invocation that began the run. After a lost connection the invocation uses it to recognise its own run.';
COMMENT ON COLUMN runs.is_retry IS 'Whether the run requests only items that failed in earlier runs.';
COMMENT ON COLUMN runs.refunds_followed_until IS
    'refundHistory with `for: revoked`: the customers of REFUND notifications stored before this time are marked for a request. NULL if the run ended before this step.';
COMMENT ON COLUMN runs.empty_lists IS 'ID lists of the job that had no ID. The run ends with 2 if there is one.';
COMMENT ON COLUMN runs.unreadable_receipts IS
    'Rows of the job''s ID list whose receipt is damaged or has no transaction ID, so that their customer is not requested. The run ends with 2 if there is one.';
COMMENT ON COLUMN runs.job_file IS 'The absolute path of the job file of the run.';
COMMENT ON COLUMN runs.job_host IS 'The machine whose file it is.';
COMMENT ON COLUMN runs.streams_fingerprint IS
    'Identifies the streams of the run with their filters; fingerprint also covers the source of the IDs.';
COMMENT ON COLUMN runs.customers_since IS
    'changedSince: the run takes its customers from notifications signed since this time, at the earliest those that Apple keeps. NULL for a run with a list of transaction IDs.';

COMMENT ON TABLE crawl_items IS
    'One row per job, stream, and transaction ID or time window: its progress, and the process that is working on it.';
COMMENT ON COLUMN crawl_items.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN crawl_items.job IS 'The name in the job file. Progress is stored per app and job name.';
COMMENT ON COLUMN crawl_items.stream IS 'transactionHistory, refundHistory or notificationHistory.';
COMMENT ON COLUMN crawl_items.item_key IS
    'For a customer, the transaction ID. For the notifications of the whole app, the time window as two UNIX times in milliseconds with ".." between them and a mark of the filters; "+second" follows for the second reading of a closed day, and "+again" for a day that was read again because the receiver had notifications that Apple''s history did not list. For the failed deliveries of the last seven days, "failures#" and the mark of the filters.';
COMMENT ON COLUMN crawl_items.run_id IS 'The last run that planned the item.';
COMMENT ON COLUMN crawl_items.state IS 'waiting, leased, done, failed or superseded (another run replaced the run before the item reached its end). The last three refer to the run in run_id.';
COMMENT ON COLUMN crawl_items.claimable_at IS
    'The earliest time at which a worker can take the item: at once, after a deferral, or when the current lease expires. NULL if the item is done or failed.';
COMMENT ON COLUMN crawl_items.lease_owner IS 'The process that has the lease on the item.';
COMMENT ON COLUMN crawl_items.lease_epoch IS
    'The number of the lease. It grows with every lease and is never reset. A commit with an older number changes nothing.';
COMMENT ON COLUMN crawl_items.fingerprint IS 'The filters that the cursor belongs to. If the filters change, the item starts again.';
COMMENT ON COLUMN crawl_items.window_start IS 'Notifications: startDate, fixed when the run began.';
COMMENT ON COLUMN crawl_items.window_end IS 'Notifications: endDate, fixed when the run began.';
COMMENT ON COLUMN crawl_items.cursor IS
    'Apple''s revision or paginationToken after the last committed page. A completed history keeps it for the next run.';
COMMENT ON COLUMN crawl_items.page_seq IS
    'The number of pages ever committed for this item. It only grows. After a lost answer to a COMMIT it shows whether the commit happened.';
COMMENT ON COLUMN crawl_items.complete_until IS 'The ledger has every record that Apple had up to this time and that matches the filters.';
COMMENT ON COLUMN crawl_items.saw_revocation IS
    'Whether the item''s records have ever included a revoked transaction or a REFUND notification.';
COMMENT ON COLUMN crawl_items.other_environment IS
    'Sandbox if Apple''s production server did not know the ID and the job allows the sandbox as a second attempt.';
COMMENT ON COLUMN crawl_items.page_count IS 'Pages committed in this run.';
COMMENT ON COLUMN crawl_items.request_count IS 'Requests sent in this run, retries included. Requests of a killed process are missing.';
COMMENT ON COLUMN crawl_items.rows_new IS 'Records in this run that the ledger did not have.';
COMMENT ON COLUMN crawl_items.rows_updated IS 'Records in this run that replaced an older snapshot.';
COMMENT ON COLUMN crawl_items.rows_unchanged IS 'Records in this run that the ledger already had.';
COMMENT ON COLUMN crawl_items.records_rejected IS 'Records rejected in this run.';
COMMENT ON COLUMN crawl_items.restarts IS 'How often Apple refused the cursor in this run, so that the item started again.';
COMMENT ON COLUMN crawl_items.deferrals IS 'How often the item was deferred in this run after failed requests.';
COMMENT ON COLUMN crawl_items.error_code IS 'Apple''s errorCode, or the HTTP status if Apple sent no errorCode.';
COMMENT ON COLUMN crawl_items.error_message IS 'Why the item failed or was deferred.';
COMMENT ON COLUMN crawl_items.finished_at IS 'When the item was last done or failed.';
COMMENT ON COLUMN crawl_items.records_withheld IS 'Records of erased customers that Apple returned in this run. They were not stored.';
COMMENT ON COLUMN crawl_items.refunds_due IS
    'Whether the crawl of this item has found a revocation and no refund history has been planned for the customer since.';

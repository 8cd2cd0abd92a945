COMMENT ON TABLE planned_streams IS 'The filters with which each stream of a job was last planned.';
COMMENT ON COLUMN planned_streams.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN planned_streams.job IS 'The name in the job file.';
COMMENT ON COLUMN planned_streams.stream IS 'transactionHistory, refundHistory or notificationHistory.';
COMMENT ON COLUMN planned_streams.fingerprint IS 'The filters, as in crawl_items.fingerprint.';

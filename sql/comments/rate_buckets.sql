COMMENT ON TABLE rate_buckets IS 'Requests granted in each 1/3600 of the window. The hourly limit is a sliding window over these rows.';
COMMENT ON COLUMN rate_buckets.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN rate_buckets.endpoint IS 'See rate_scopes.';
COMMENT ON COLUMN rate_buckets.bucket IS 'The beginning of the bucket.';
COMMENT ON COLUMN rate_buckets.granted IS 'Requests granted in the bucket, sent or not.';

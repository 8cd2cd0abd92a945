COMMENT ON TABLE apps IS 'The apps in this ledger. An app has one row per environment.';
COMMENT ON COLUMN apps.app_id IS 'StoreLedger''s number for the app in one environment.';
COMMENT ON COLUMN apps.bundle_id IS 'Apple''s bundleId of the app.';
COMMENT ON COLUMN apps.environment IS 'Apple''s environment: Production or Sandbox.';
COMMENT ON COLUMN apps.app_apple_id IS
    'Apple''s appAppleId: the app''s number in the App Store. NULL in the sandbox if the job file does not set it.';
COMMENT ON COLUMN apps.server IS
    'The server that the newest run sent its requests to. NULL until a run has begun with a version that records it.';
COMMENT ON COLUMN apps.trusted_roots IS
    'SHA-256 of each root certificate that signs the app''s records. Jobs that trust another root are refused. NULL until a run has begun with a version that records it; the origin of earlier records is unknown.';

COMMENT ON TABLE signing_headers IS
    'The JWS headers of the raw archive. Each header is stored once, because thousands of payloads share one certificate chain.';
COMMENT ON COLUMN signing_headers.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN signing_headers.header_id IS 'StoreLedger''s number for the header.';
COMMENT ON COLUMN signing_headers.header_sha256 IS 'SHA-256 of the header text.';
COMMENT ON COLUMN signing_headers.header IS
    'The first segment of the JWS as received, in base64url: the algorithm and the certificate chain.';
COMMENT ON COLUMN signing_headers.first_seen_at IS
    'When StoreLedger first stored the header. A certificate chain that differs from earlier ones is a rotation. NULL for headers stored before StoreLedger recorded this time.';

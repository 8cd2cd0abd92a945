-- Which tokens of external purchases are known, which of them were reported, and until when should the others be?
--
-- One row for each app_id, external_purchase_id. Apple's API pages have no deadline, so report_by is a definition of StoreLedger: when Apple's UNREPORTED
-- notification is due, which is ten days after the creation of a token without an expiry, or else the expiry; and at the latest the end of the
-- month (UTC) of the creation. Source: subtype, App Store Server Notifications, read 2026-11.
--
-- Readers: loader, exporter, actor.
CREATE OR REPLACE VIEW external_purchase_tokens AS
WITH notified AS (
    SELECT n.app_id, n.external_purchase_id,
           max(n.external_purchase_token_type) AS token_type,
           min(n.external_purchase_token_creation_date) AS created_at,
           max(n.external_purchase_token_expiration_date) AS expires_at,
           min(n.signed_date) AS first_notified_at,
           max(n.signed_date) FILTER (WHERE n.subtype = 'ACTIVE_TOKEN_REMINDER') AS last_reminded_at,
           max(n.signed_date) FILTER (WHERE n.subtype = 'UNREPORTED') AS unreported_notice_at
      FROM notifications n
     WHERE n.notification_type = 'EXTERNAL_PURCHASE_TOKEN' AND n.external_purchase_id IS NOT NULL
     GROUP BY 1, 2
), reported AS (
    SELECT r.app_id, r.subject AS external_purchase_id, count(*) AS reports, min(r.ended_at) AS first_reported_at, max(r.ended_at) AS last_reported_at,
           (array_agg(r.parameters ->> 'status' ORDER BY r.ended_at DESC, r.batch_id))[1] AS status
      FROM action_rows r JOIN action_batches b ON b.app_id = r.app_id AND b.batch_id = r.batch_id
     WHERE b.action = 'reportExternalPurchases' AND r.state = 'succeeded'
     GROUP BY 1, 2
)
SELECT app_id, external_purchase_id, n.token_type, n.created_at, n.expires_at, n.first_notified_at, n.last_reminded_at, n.unreported_notice_at,
       coalesce(r.status, 'UNREPORTED') AS state, coalesce(r.reports, 0) AS reports, r.first_reported_at, r.last_reported_at,
       least(coalesce(n.expires_at, n.created_at + interval '240 hours'),
             (date_trunc('month', n.created_at AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC') AS report_by
  FROM notified n FULL JOIN reported r USING (app_id, external_purchase_id);
COMMENT ON VIEW external_purchase_tokens IS
    'The tokens of external purchases that notifications or reports name, with what was reported of them and until when they should be reported.';
COMMENT ON COLUMN external_purchase_tokens.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN external_purchase_tokens.external_purchase_id IS 'Apple''s externalPurchaseId: identifies the token.';
COMMENT ON COLUMN external_purchase_tokens.token_type IS 'Apple''s tokenType, such as SERVICES; NULL for a token without a type, and for one that no notification names.';
COMMENT ON COLUMN external_purchase_tokens.created_at IS 'Apple''s tokenCreationDate; NULL for a token that no notification names.';
COMMENT ON COLUMN external_purchase_tokens.expires_at IS 'Apple''s tokenExpirationDate; NULL for a token that does not expire.';
COMMENT ON COLUMN external_purchase_tokens.first_notified_at IS 'When Apple signed the first notification about the token.';
COMMENT ON COLUMN external_purchase_tokens.last_reminded_at IS 'When Apple signed the last ACTIVE_TOKEN_REMINDER; NULL without one.';
COMMENT ON COLUMN external_purchase_tokens.unreported_notice_at IS 'When Apple signed the last UNREPORTED notification; NULL without one.';
COMMENT ON COLUMN external_purchase_tokens.state IS
    'UNREPORTED, or the status of the last report that Apple took: LINE_ITEM, NO_LINE_ITEM, UNRECOGNIZED_TOKEN or DUPLICATE_TOKEN.';
COMMENT ON COLUMN external_purchase_tokens.reports IS 'The reports that Apple took.';
COMMENT ON COLUMN external_purchase_tokens.first_reported_at IS 'When Apple took the first report; NULL without one.';
COMMENT ON COLUMN external_purchase_tokens.last_reported_at IS 'When Apple took the last report; NULL without one.';
COMMENT ON COLUMN external_purchase_tokens.report_by IS
    'Until when the token should be reported, as StoreLedger defines it: ten days after the creation of a token without an expiry, or the expiry, and at the latest the end of the month (UTC) of the creation.';

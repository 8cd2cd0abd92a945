-- Removes a customer from notifications that a receiver stored in its first eight days; the rows stay, with only their times.
--
-- These rows show since when a receiver works, as reconciliation_days.sql says. Without one, `reconcile` would compare less, and miss
-- lost notifications.
--
-- :customers      the customer's transaction IDs
-- :notifications  the customer's notifications
UPDATE received_notifications x
   SET notification_uuid = 'erased-' || gen_random_uuid(), notification_type = NULL, subtype = NULL,
       original_transaction_id = NULL, body = NULL, body_sha256 = '',
       normalised_at = coalesce(normalised_at, clock_timestamp())
  FROM (SELECT received_at FROM received_notifications
         WHERE app_id = :app AND version = 2 AND refused_because IS NULL ORDER BY received_at LIMIT 1) first,
       (SELECT f.notification_uuid FROM unnest(:customers::text[]) AS w (key), LATERAL (
            SELECT r.notification_uuid FROM received_notifications r
             WHERE r.app_id = :app AND r.original_transaction_id = w.key OFFSET 0) f
        UNION
        SELECT unnest(:notifications::text[])) theirs
 WHERE x.app_id = :app AND x.notification_uuid = theirs.notification_uuid AND x.version = 2
   AND x.refused_because IS NULL AND x.received_at < first.received_at + interval '8 days'

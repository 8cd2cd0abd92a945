-- What do the totals need of each period of a subscription?
--
-- The rows of subscription_periods, with what notifications, renewal info and Apple's own status say of the period. A
-- row depends on the records of its subscription, and on the tables products and product_periods. A refresh computes
-- these rows again for the subscriptions that changed, and keeps them in refresh_stored_periods. The views …_changes
-- compare as_of, the time of the computation, with dates of the row. due_at is the next of these dates: from then on
-- the row counts otherwise.
--
-- Renewal info counts for a period if Apple signed it after the period began. Apple's own status counts if no record
-- of the subscription was signed after it; see current_subscriptions.
CREATE OR REPLACE VIEW refresh_periods_to_store AS
SELECT
    p.app_id, p.original_transaction_id, p.period_number, p.transaction_id, p.product_id, p.storefront, p.currency,
    p.price_milliunits, p.transaction_reason, p.offer_type, p.offer_identifier, p.offer_discount_type, p.billing_plan_type,
    p.is_trial, p.is_family_shared, p.is_paid, p.starts_at, p.expires_date, p.ends_at, p.grace_until, p.ended_by,
    p.revocation_date, p.next_starts_at, p.next_transaction_id IS NULL AS is_last, p.period, p.mrr_milliunits, p.estimated_upgrade_refund_milliunits, p.first_paid_at,
    p.is_extended, p.period_by_length, p.payment_number, p.is_continued, p.is_renewed, p.next_product_id, p.next_storefront,
    p.is_after_trial,
    coalesce(told.has_failed, false) AS has_failed,
    lead(told.recovered_at) OVER (PARTITION BY p.app_id, p.original_transaction_id ORDER BY p.period_number) AS next_recovered_at,
    told.expiry_reason,
    CASE WHEN r.last_signed_date >= p.starts_at THEN r.auto_renew_status END AS auto_renew_status,
    CASE WHEN r.last_signed_date >= p.starts_at THEN r.expiration_intent END AS expiration_intent,
    CASE WHEN r.last_signed_date >= p.starts_at THEN r.is_in_billing_retry_period END AS is_in_billing_retry_period,
    CASE WHEN r.last_signed_date >= p.starts_at THEN r.last_signed_date END AS renewal_info_signed_date,
    CASE WHEN p.next_transaction_id IS NULL AND coalesce(s.records_signed_date, s.asked_at)
              >= greatest(p.signed_date, CASE WHEN r.last_signed_date >= p.starts_at THEN r.last_signed_date END)
         THEN s.status END AS reported_status,
    CASE WHEN p.next_transaction_id IS NULL THEN s.asked_at END AS reported_at,
    now() AS as_of,
    least(
        CASE WHEN p.starts_at >= now() THEN p.starts_at END,
        CASE WHEN p.expires_date >= now() THEN p.expires_date END,
        CASE WHEN p.ends_at >= now() THEN p.ends_at END,
        CASE WHEN p.grace_until >= now() THEN p.grace_until END,
        CASE WHEN p.revocation_date >= now() THEN p.revocation_date END,
        -- Billing retry and a status count for 60 days; see refresh_changed_subscriptions.
        CASE WHEN p.next_transaction_id IS NULL AND r.is_in_billing_retry_period
                  AND greatest(p.expires_date, r.last_signed_date) + interval '60 days' >= now()
             THEN greatest(p.expires_date, r.last_signed_date) + interval '60 days' END,
        CASE WHEN p.next_transaction_id IS NULL AND s.asked_at + interval '60 days' >= now()
             THEN s.asked_at + interval '60 days' END
    ) AS due_at
FROM subscription_periods p
LEFT JOIN renewals_signed r ON r.app_id = p.app_id AND r.original_transaction_id = p.original_transaction_id
LEFT JOIN subscription_statuses s ON s.app_id = p.app_id AND s.original_transaction_id = p.original_transaction_id
     AND s.ended_at IS NULL
-- By the transaction's subscription, so that one subscription's notifications are found by their transactions.
LEFT JOIN (
    SELECT t.app_id, t.original_transaction_id, t.transaction_id,
           bool_or(n.notification_type IN ('DID_FAIL_TO_RENEW', 'GRACE_PERIOD_EXPIRED')
                   OR n.notification_type = 'EXPIRED' AND n.subtype IS NOT DISTINCT FROM 'BILLING_RETRY') AS has_failed,
           min(n.signed_date) FILTER (WHERE n.notification_type = 'DID_RENEW') AS recovered_at,
           (array_agg(CASE WHEN n.notification_type <> 'EXPIRED' OR n.subtype = 'BILLING_RETRY' THEN 'billing'
                           WHEN n.subtype = 'VOLUNTARY' THEN 'voluntary'
                           WHEN n.subtype = 'PRICE_INCREASE' THEN 'price'
                           ELSE 'other' END
                      ORDER BY n.notification_type = 'EXPIRED' DESC, n.signed_date DESC, n.notification_uuid)
                FILTER (WHERE n.notification_type <> 'DID_RENEW'))[1] AS expiry_reason
      FROM notifications n
      JOIN transactions t ON t.app_id = n.app_id AND t.transaction_id = n.transaction_id
     WHERE n.notification_type IN ('DID_FAIL_TO_RENEW', 'GRACE_PERIOD_EXPIRED', 'EXPIRED')
        OR n.notification_type = 'DID_RENEW' AND n.subtype = 'BILLING_RECOVERY'
     GROUP BY t.app_id, t.original_transaction_id, t.transaction_id
) told ON told.app_id = p.app_id AND told.original_transaction_id = p.original_transaction_id
      AND told.transaction_id = p.transaction_id;

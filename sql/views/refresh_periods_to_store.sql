-- What do the totals need of each period of a subscription?
--
-- The rows of subscription_periods, with what notifications, renewal info and Apple's own status say of the period, and
-- what the totals need of the periods before and after it. A row depends on the records of its subscription, and on the
-- tables products and product_periods. A refresh computes these rows again for the subscriptions that changed, and keeps
-- them in refresh_stored_periods. The views …_changes compare as_of, the time of the refresh, with dates of the row. due_at
-- is the next of these dates: from then on the row counts otherwise.
--
-- Renewal info counts for a period if Apple signed it after the period began. Apple's own status counts if no record
-- of the subscription was signed after it; see current_subscriptions.
--
-- is_after_a_year follows the rules of revenue_after_a_year_by_month: the paid periods before it served a year, since the
-- last gap of more than 60 days. An extension and a free period serve no day, but they are no gap.
CREATE OR REPLACE VIEW refresh_periods_to_store AS
SELECT
    app_id, original_transaction_id, period_number, transaction_id, product_id, storefront, currency, price_milliunits,
    transaction_reason, offer_type, offer_identifier, offer_discount_type, billing_plan_type, is_trial, is_family_shared, is_paid,
    starts_at, expires_date, ends_at, grace_until, ended_by, revocation_date, next_starts_at, is_last, period, mrr_milliunits,
    estimated_upgrade_refund_milliunits, first_paid_at, is_extended, period_by_length, payment_number, is_continued, is_renewed,
    next_product_id, next_storefront, is_after_trial,
    previous_is_trial, is_after_gap, is_same_offer, next_is_renewal, payments_so_far, is_paid_later,
    is_paid AND served_before - max(CASE WHEN is_after_pause THEN served_before ELSE interval '0' END) OVER subscription >= interval '365 days'
        IS TRUE AS is_after_a_year,
    has_failed, next_recovered_at, expiry_reason, auto_renew_status, expiration_intent, is_in_billing_retry_period,
    renewal_info_signed_date, reported_status, reported_at, due_at,
    web_order_line_item_id, has_expired, has_gap, seat_refunds_at, mrr_before_seat_refunds
FROM (
    SELECT
        p.*,
        lag(p.is_trial) OVER subscription AS previous_is_trial,
        lag(p.has_gap) OVER subscription AS is_after_gap,
        p.has_offer AND coalesce(lag(p.has_offer) OVER subscription, false)
            -- A customer who buys again after a lapse redeems again; Apple's renewal after a failed payment continues the offer.
            AND (coalesce(lag(p.ends_at) OVER subscription >= p.starts_at, false) OR p.transaction_reason IS NOT DISTINCT FROM 'RENEWAL')
            AND (p.is_trial, p.offer_type, p.offer_identifier, p.offer_discount_type) IS NOT DISTINCT FROM
                (lag(p.is_trial) OVER subscription, lag(p.offer_type) OVER subscription, lag(p.offer_identifier) OVER subscription,
                 lag(p.offer_discount_type) OVER subscription) AS is_same_offer,
        lead(p.transaction_reason) OVER subscription IS NOT DISTINCT FROM 'RENEWAL' AS next_is_renewal,
        count(*) FILTER (WHERE p.is_paid) OVER subscription AS payments_so_far,
        coalesce(bool_or(p.is_paid) OVER later, false) AS is_paid_later,
        lead(p.recovered_at) OVER subscription AS next_recovered_at,
        sum(CASE WHEN p.is_paid THEN least(p.covered_until, p.extended_from) - p.starts_at END) OVER earlier AS served_before,
        p.starts_at - max(p.covered_until) OVER earlier > interval '60 days' AND NOT p.is_family_shared AS is_after_pause
    FROM (
        SELECT
            p.*, p.next_transaction_id IS NULL AS is_last, p.is_trial OR p.offer_type IS NOT NULL AS has_offer,
            CASE WHEN p.is_family_shared THEN NULL
                 WHEN p.revocation_date IS NULL AND p.expires_date IS NOT NULL
                 THEN greatest(CASE WHEN p.is_continued THEN p.ends_at ELSE least(p.ends_at, p.expires_date) END, p.starts_at)
                 ELSE p.starts_at END AS covered_until,
            coalesce(from_notifications.has_failed, false) AS has_failed, from_notifications.recovered_at, from_notifications.expiry_reason,
            CASE WHEN r.last_signed_date >= p.starts_at THEN r.auto_renew_status END AS auto_renew_status,
            CASE WHEN r.last_signed_date >= p.starts_at THEN r.expiration_intent END AS expiration_intent,
            CASE WHEN r.last_signed_date >= p.starts_at THEN r.is_in_billing_retry_period END AS is_in_billing_retry_period,
            CASE WHEN r.last_signed_date >= p.starts_at THEN r.last_signed_date END AS renewal_info_signed_date,
            CASE WHEN p.next_transaction_id IS NULL AND coalesce(s.records_signed_date, s.asked_at)
                      >= greatest(p.signed_date, CASE WHEN r.last_signed_date >= p.starts_at THEN r.last_signed_date END)
                 THEN s.status END AS reported_status,
            CASE WHEN p.next_transaction_id IS NULL THEN s.asked_at END AS reported_at,
            least(
                CASE WHEN p.starts_at >= state.next_as_of THEN p.starts_at END,
                CASE WHEN p.expires_date >= state.next_as_of THEN p.expires_date END,
                CASE WHEN p.ends_at >= state.next_as_of THEN p.ends_at END,
                CASE WHEN p.grace_until >= state.next_as_of THEN p.grace_until END,
                CASE WHEN p.revocation_date >= state.next_as_of THEN p.revocation_date END,
                CASE WHEN p.seat_refunds_at IS NOT NULL
                     THEN (SELECT min(at) FROM unnest(p.seat_refunds_at) at WHERE at >= state.next_as_of) END,
                -- Billing retry and a status count for 60 days; see current_subscriptions.
                CASE WHEN p.next_transaction_id IS NULL AND r.is_in_billing_retry_period
                          AND greatest(p.expires_date, r.last_signed_date) + interval '1440 hours' >= state.next_as_of
                     THEN greatest(p.expires_date, r.last_signed_date) + interval '1440 hours' END,
                CASE WHEN p.next_transaction_id IS NULL AND s.asked_at + interval '1440 hours' >= state.next_as_of
                     THEN s.asked_at + interval '1440 hours' END
            ) AS due_at
        FROM subscription_periods p
        CROSS JOIN (SELECT next_as_of FROM refresh_state LIMIT 1) state
        LEFT JOIN renewals_signed r ON r.app_id = p.app_id AND r.original_transaction_id = p.original_transaction_id
        LEFT JOIN subscription_statuses s ON s.app_id = p.app_id AND s.original_transaction_id = p.original_transaction_id
             AND s.ended_at IS NULL
        -- By the transaction's subscription, so that one subscription's notifications are found by their transactions.
        LEFT JOIN (
            SELECT t.app_id, t.original_transaction_id, coalesce(t.web_order_line_item_id, t.transaction_id) AS purchase_key,
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
             GROUP BY t.app_id, t.original_transaction_id, coalesce(t.web_order_line_item_id, t.transaction_id)
        ) from_notifications ON from_notifications.app_id = p.app_id AND from_notifications.original_transaction_id = p.original_transaction_id
              AND from_notifications.purchase_key = coalesce(p.web_order_line_item_id, p.transaction_id)
    ) p
    WINDOW subscription AS (PARTITION BY p.app_id, p.original_transaction_id ORDER BY p.period_number),
           earlier AS (subscription ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
           later AS (subscription ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)
) p
WINDOW subscription AS (PARTITION BY app_id, original_transaction_id ORDER BY period_number);

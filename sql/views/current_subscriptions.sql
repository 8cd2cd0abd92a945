-- What is the current state of each subscription, and which record shows it?
--
-- The states are Apple's five, derived from the newest signed records: revoked (revocationDate), active (expiresDate in the
-- future), grace period (gracePeriodExpiresDate in the future), billing retry (isInBillingRetryPeriod), else expired. The
-- state is unknown without an expiresDate. Apple retries most payments for 60 days, and payments of some plans (monthly
-- payments of a commitment) for longer. So billing retry in renewal info counts for 60 days after Apple signed it, or
-- after expiresDate if that is later. Renewal info counts only if Apple signed it after the last period began. It comes with
-- notifications and with Get All Subscription Statuses. Without both a failed payment looks expired, and a renewal after the
-- last crawl is unknown. signed_date is the age of the information.
--
-- Apple's own status (subscription_statuses) replaces the derived state if nothing has happened since Apple answered: Apple
-- has signed neither the transaction nor the renewal info after the records of that answer (records_signed_date), and none of
-- their dates (purchaseDate, expiresDate, end of the grace period, revocationDate) has passed since. Both signing dates are by
-- Apple's clock, so a signature that is newer by any time counts instead of the status. The status active, grace period or billing retry counts
-- for 60 days after the answer, as renewal info about a retry does. A status outside 1 to 5 is ignored, and so is
-- one that Apple's newest answer no longer has (ended_at). The status is not
-- signed: is_reported_by_apple and known_from mark each state that depends on it.
--
-- 60 days are 1,440 hours here and in the other views: `interval '60 days'` would depend on the session's time zone.
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW current_subscriptions AS
SELECT
    p.app_id, p.original_transaction_id, state.status, state.known_from,
    CASE WHEN reported.n IS NOT NULL THEN s.asked_at
         WHEN state.known_from LIKE '%renewal info' THEN coalesce(r.last_signed_date, t.signed_date)
         ELSE t.signed_date END AS signed_date,
    p.transaction_id, p.product_id, p.subscription_group_identifier, p.storefront, p.currency, p.price_milliunits,
    p.period, mrr.mrr_milliunits, p.is_trial, p.is_paid, p.is_family_shared, p.offer_type,
    t.original_purchase_date AS subscribed_at, p.starts_at, p.ends_at, p.period_number AS periods,
    CASE r.auto_renew_status WHEN 1 THEN true WHEN 0 THEN false END AS will_renew,
    r.auto_renew_product_id, r.price_increase_status,
    CASE r.expiration_intent WHEN 1 THEN 'voluntary' WHEN 2 THEN 'billing' WHEN 3 THEN 'price'
        WHEN 4 THEN 'product not for sale' WHEN 5 THEN 'other' END AS expired_because,
    CASE r.commitment_auto_renew_status WHEN 1 THEN true WHEN 0 THEN false END AS commitment_will_renew,
    p.price_milliunits * 0.001 AS price_amount, mrr.mrr_milliunits * 0.001 AS mrr_amount,
    reported.n IS NOT NULL AS is_reported_by_apple,
    t.customer_key,
    p.expires_date, p.grace_until
FROM subscription_periods p
JOIN refresh_purchase_records t ON t.app_id = p.app_id AND t.original_transaction_id = p.original_transaction_id
                       AND t.transaction_id = p.transaction_id
CROSS JOIN LATERAL (
    SELECT CASE WHEN p.seat_refunds_at IS NULL THEN p.mrr_milliunits
                ELSE coalesce(p.mrr_before_seat_refunds[(SELECT min(n) FROM generate_subscripts(p.seat_refunds_at, 1) n WHERE p.seat_refunds_at[n] > now())],
                              p.mrr_milliunits) END AS mrr_milliunits
) mrr
LEFT JOIN renewals_signed r ON r.app_id = p.app_id AND r.original_transaction_id = p.original_transaction_id
     AND r.last_signed_date >= p.starts_at
LEFT JOIN subscription_statuses s ON s.app_id = p.app_id AND s.original_transaction_id = p.original_transaction_id
     AND s.ended_at IS NULL
CROSS JOIN LATERAL (
    SELECT CASE
        WHEN coalesce(s.records_signed_date, s.asked_at) >= greatest(t.signed_date, r.last_signed_date)
             AND (s.status IN (2, 5) OR s.asked_at > now() - interval '1440 hours')
             AND s.asked_at >= greatest(p.starts_at, CASE WHEN p.revocation_date <= now() THEN p.revocation_date END,
                                        CASE WHEN t.expires_date <= now() THEN t.expires_date END,
                                        CASE WHEN p.grace_until <= now() THEN p.grace_until END)
            THEN (ARRAY[2, 5, 4, 3, 1])[s.status]
        END AS n
) reported
CROSS JOIN LATERAL (
    SELECT (ARRAY['revoked', 'active', 'grace period', 'billing retry', 'expired', 'unknown'])[coalesce(reported.n, worked_out.n)] AS status,
           CASE WHEN reported.n IS NOT NULL THEN 'status of Get All Subscription Statuses' ELSE
           (ARRAY['revocationDate of the transaction', 'expiresDate of the transaction',
                  'gracePeriodExpiresDate of the renewal info', 'isInBillingRetryPeriod of the renewal info',
                  CASE WHEN r.expiration_intent IS NOT NULL THEN 'expirationIntent of the renewal info'
                       ELSE 'expiresDate of the transaction' END,
                  'nothing: the transaction has no expiresDate'])[worked_out.n] END AS known_from
      FROM (SELECT CASE
          WHEN p.revocation_date <= now() THEN 1
          WHEN t.expires_date IS NULL THEN 6
          WHEN t.expires_date > now() THEN 2
          WHEN p.grace_until > now() THEN 3
          WHEN r.is_in_billing_retry_period AND greatest(t.expires_date, r.last_signed_date) + interval '1440 hours' > now() THEN 4
          ELSE 5
      END AS n) worked_out
) state
WHERE p.next_transaction_id IS NULL;
COMMENT ON VIEW current_subscriptions IS
    'The last period of each subscription, its current state, and the source of that state. A query for one customer is fast and a query for all subscriptions is slow; subscriptions_by_status has the counts.';
COMMENT ON COLUMN current_subscriptions.status IS 'active, grace period, billing retry, expired or revoked; unknown if Apple sends no expiresDate and no newer status is known.';
COMMENT ON COLUMN current_subscriptions.known_from IS 'The record and field of Apple''s data that determine status; "status of Get All Subscription Statuses" for Apple''s own status, which is not signed.';
COMMENT ON COLUMN current_subscriptions.signed_date IS 'When Apple signed that record; for Apple''s own status, when Apple answered (asked_at). Later changes are unknown.';
COMMENT ON COLUMN current_subscriptions.price_milliunits IS
    'The price of the last period after offers, of all seats for a subscription with several seats, in thousandths of a unit of currency. NULL if Apple sends no price.';
COMMENT ON COLUMN current_subscriptions.period IS 'The nominal period, as an ISO 8601 duration such as P1M. NULL if it is unknown.';
COMMENT ON COLUMN current_subscriptions.mrr_milliunits IS 
    'MRR of the last period: its price brought to a month by RevenueCat''s factors (a day times 30, a week times 4, a year divided by 12), in thousandths of a unit of currency. NULL if nothing is paid, or if the price or the period is unknown.';
COMMENT ON COLUMN current_subscriptions.is_trial IS 'Whether the last period is a free trial.';
COMMENT ON COLUMN current_subscriptions.is_paid IS 'Whether the customer paid for the last period.';
COMMENT ON COLUMN current_subscriptions.is_family_shared IS
    'Whether another member of the family paid (FAMILY_SHARED), or the organization or group that assigned the access (ASSIGNED).';
COMMENT ON COLUMN current_subscriptions.subscribed_at IS 'Apple''s originalPurchaseDate: when the subscription was first purchased.';
COMMENT ON COLUMN current_subscriptions.starts_at IS 'When the last period began.';
COMMENT ON COLUMN current_subscriptions.ends_at IS 'When the last period ends or ended: expires_date, or grace_until if there is one, or the date of a refund or revocation if that is earlier.';
COMMENT ON COLUMN current_subscriptions.periods IS 'The number of the subscription''s periods, including trials and periods at the price 0. payment_number of subscription_periods counts payments only.';
COMMENT ON COLUMN current_subscriptions.will_renew IS 'Apple''s autoRenewStatus: whether auto-renewal is on. NULL without renewal info of this period.';
COMMENT ON COLUMN current_subscriptions.auto_renew_product_id IS 'Apple''s autoRenewProductId: the product that renews next.';
COMMENT ON COLUMN current_subscriptions.price_increase_status IS 'Apple''s priceIncreaseStatus: 0 no response yet, 1 the customer consented, or was notified where no consent is required.';
COMMENT ON COLUMN current_subscriptions.expired_because IS 'Apple''s expirationIntent in words. NULL if the subscription has not expired or Apple sends no reason.';
COMMENT ON COLUMN current_subscriptions.commitment_will_renew IS
    'Apple''s commitmentAutoRenewStatus: whether a new commitment follows the current one. will_renew refers to the next billing period instead. NULL for a subscription without a commitment, or without renewal info of this period.';
COMMENT ON COLUMN current_subscriptions.is_reported_by_apple IS
    'Whether the state is Apple''s own status from Get All Subscription Statuses, because it is newer than the signed records. Apple does not sign it. All other states are derived from signed records.';
COMMENT ON COLUMN current_subscriptions.customer_key IS 'Identifies the customer of the last period, as in purchases.';
COMMENT ON COLUMN current_subscriptions.expires_date IS
    'Apple''s expiresDate of the last period: in a grace period or in billing retry, since when the payment fails. NULL if Apple sends none.';
COMMENT ON COLUMN current_subscriptions.grace_until IS 'The end of the grace period after the last period. NULL without a known grace period.';

-- When did each period of a subscription begin and end, was it paid, and what ended it?
--
-- One row per purchase of an auto-renewable subscription: paid, free or shared. Several transactions can refer to one purchase
-- (refresh_purchase_records). A period is [starts_at, ends_at). It ends at Apple's expiresDate; earlier with a revocation or the next period of the same subscription (an upgrade); or later with
-- the grace period. Periods of one subscription never overlap. Without an expiresDate the end is unknown: ends_at is NULL,
-- and no view counts the period as active at any time.
--
-- If Apple renews the subscription (transactionReason RENEWAL) within an hour after expiresDate, there is no gap: the period lasts until the renewal,
-- because the customer kept the service. There is a gap if a notification has a grace period, or says that the payment failed or was recovered
-- (DID_FAIL_TO_RENEW, GRACE_PERIOD_EXPIRED, EXPIRED with BILLING_RETRY, DID_RENEW with BILLING_RECOVERY). A purchase by the customer after
-- expiresDate always leaves a gap.
--
-- Grace periods come from notifications. Each notification identifies its transaction, so a period keeps its grace period
-- after the payment was recovered. Renewal info also contains the grace period of the last period, if Apple signed it after
-- that period began. Older renewal info describes an earlier period.
--
-- MRR is the price times 30 for a day, times 4 for a week, divided by 12 for a year: RevenueCat's factors. An ordinary transaction does not contain the
-- nominal period (the column period). The view uses the first of these that is known: products.period of the user; the
-- period of Advanced Commerce; the usual period of the product, which is the length of most of its periods (product_periods,
-- as of the last refresh); the length of this period; the time since the previous period expired (a payment recovered in
-- the grace period does not move the renewal date). A period that Apple extended (RENEWAL_EXTENDED) is never measured by its
-- length. A period that is longer than its nominal period can be in any calendar was extended, too, with or without a notification. Monthly
-- billing of a longer commitment is a month. Offers use their own length, because it differs from the product's; an extended pay-as-you-go offer has
-- the product's period. A payment recovered late in the grace period leaves a short period, which can look like a shorter nominal one. So the time
-- since the previous period expired comes first for monthly billing, and for a pay-as-you-go offer if the previous period or the product has that
-- length. If nothing else is known and the length is not a usual one, period and mrr_milliunits are NULL. This happens in the sandbox, where a month
-- takes minutes.
--
-- A subscription with several seats has the price of all seats, as in seat_purchases. When seats are added during a period,
-- Apple makes another transaction for them, which expires with the period and does not replace the first one. It has a separate
-- row, from the addition on. The MRR of that row covers all transactions of the period so far that are not revoked.
-- Apple does not say whether it prorates the price of added seats, so their price counts for a whole period. If the
-- seats of one transaction are refunded, the period goes on with the others, and its MRR is lower from the refund on
-- (seat_refunds_at). A month that is over does not change. When all of them are refunded, the period ends.
--
-- When a customer upgrades during a period, Apple refunds the unused part of its price and reports the refund in no field:
-- the old transaction has isUpgraded, keeps its price and has no revocationDate. A separate column has an estimate:
-- price * (expiresDate - purchaseDate of the upgrade) / (expiresDate - purchaseDate). The estimate is NULL if nothing was
-- paid, if seats were added in the period, if Apple reports a refund of the same transaction, if the upgrade was paid in
-- another currency, if a date is missing, and if the change took effect at the end of the period.
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW subscription_periods AS
WITH ordered_period AS (
    SELECT
        t.*,
        row_number() OVER subscription AS period_number,
        lead(t.transaction_id) OVER subscription AS next_transaction_id,
        lead(t.purchase_date) OVER subscription AS next_starts_at,
        lead(t.currency) OVER subscription AS next_currency,
        lead(t.product_id) OVER subscription AS next_product_id,
        lead(t.storefront) OVER subscription AS next_storefront,
        bool_or(t.is_trial AND NOT t.is_family_shared) OVER subscription AS has_had_trial,
        lead(t.is_paid AND t.expires_date IS NOT NULL) OVER subscription AS next_is_active,
        lead(t.is_paid AND t.transaction_reason = 'RENEWAL') OVER subscription AS next_is_renewal,
        lead(t.transaction_reason = 'RENEWAL') OVER subscription AS next_is_by_apple,
        lead(coalesce(t.web_order_line_item_id, t.transaction_id)) OVER subscription AS next_purchase_key,
        min(CASE WHEN t.is_paid THEN t.purchase_date END) OVER (PARTITION BY t.app_id, t.original_transaction_id) AS first_paid_at,
        count(*) FILTER (WHERE t.is_paid) OVER subscription AS payments,
        date_part('epoch', t.expires_date - t.purchase_date) / 86400 AS days,
        date_part('epoch', t.expires_date - lag(t.expires_date) OVER subscription) / 86400 AS days_since_expiry,
        date_part('epoch', lag(t.expires_date - t.purchase_date) OVER subscription) / 86400 AS previous_days
    FROM (
        SELECT k.*, NOT k.is_trial AND NOT k.is_family_shared AND k.price_milliunits IS DISTINCT FROM 0 AS is_paid
        FROM (
            -- Notifications name a transaction, and several transactions can refer to one purchase.
            SELECT t.*, coalesce(t.web_order_line_item_id, t.transaction_id) AS purchase_key,
                   coalesce(t.offer_discount_type, CASE WHEN t.offer_type = 1 AND t.price_milliunits = 0 THEN 'FREE_TRIAL' END)
                       IS NOT DISTINCT FROM 'FREE_TRIAL' AS is_trial,
                   coalesce(t.in_app_ownership_type IN ('FAMILY_SHARED', 'ASSIGNED'), false) AS is_family_shared
            FROM refresh_purchase_records t
            WHERE t.type = 'Auto-Renewable Subscription' AND t.original_transaction_id IS NOT NULL AND t.purchase_date IS NOT NULL
        ) k
    ) t
    WINDOW subscription AS (
        PARTITION BY t.app_id, t.original_transaction_id ORDER BY t.purchase_date, t.expires_date, t.transaction_id
    )
), measured AS (
    SELECT
        s.*,
        coalesce(seats.price_milliunits, s.price_milliunits) AS paid_milliunits,
        coalesce(seats.period_milliunits, s.price_milliunits) AS period_milliunits,
        CASE WHEN seats.transactions > 1 THEN seats.all_revoked_at ELSE s.revocation_date END AS ending_revocation_date,
        seats.refund_dates, seats.milliunits_before_refunds,
        CASE WHEN s.next_is_by_apple AND s.next_starts_at > s.expires_date AND s.next_starts_at <= s.expires_date + interval '1 hour'
                  AND from_notifications.grace_until IS NULL
             THEN CASE WHEN (SELECT EXISTS (
                          SELECT FROM transactions t
                            JOIN notifications n ON n.app_id = t.app_id AND n.transaction_id = t.transaction_id
                           WHERE t.app_id = s.app_id AND t.original_transaction_id = s.original_transaction_id
                             AND CASE coalesce(t.web_order_line_item_id, t.transaction_id)
                                     WHEN s.purchase_key
                                         THEN n.notification_type IN ('DID_FAIL_TO_RENEW', 'GRACE_PERIOD_EXPIRED')
                                              OR n.notification_type = 'EXPIRED' AND n.subtype IS NOT DISTINCT FROM 'BILLING_RETRY'
                                     WHEN s.next_purchase_key
                                         THEN n.notification_type = 'DID_RENEW' AND n.subtype IS NOT DISTINCT FROM 'BILLING_RECOVERY'
                                 END))
                       THEN s.expires_date ELSE s.next_starts_at END
             ELSE s.expires_date END AS expired_at,
        greatest(CASE WHEN from_notifications.grace_until > s.expires_date THEN from_notifications.grace_until END,
                 CASE WHEN s.next_transaction_id IS NULL AND r.last_signed_date >= s.purchase_date
                       AND r.grace_period_expires_date > s.expires_date
                      THEN r.grace_period_expires_date END) AS grace_until,
        coalesce(from_notifications.is_extended, false) AS is_extended, length.days AS length_in_days, scale.days AS scale_days, scale.periods AS scale_periods,
        scale.periods[width_bucket(length.days, scale.days)] AS period_by_length,
        coalesce(
            CASE
                WHEN s.billing_plan_type = 'MONTHLY'
                    THEN CASE WHEN s.offer_type IS NULL
                                   AND (length.days >= 27 OR from_notifications.is_extended
                                        OR s.transaction_reason = 'RENEWAL' AND s.days_since_expiry >= 27) THEN 'P1M' END
                WHEN s.offer_type IS NULL OR from_notifications.is_extended AND s.offer_discount_type = 'PAY_AS_YOU_GO'
                    THEN coalesce(p.period, s.advanced_commerce_period, usual.period)
            END,
            CASE WHEN from_notifications.is_extended THEN NULL ELSE coalesce(
                CASE WHEN s.transaction_reason = 'RENEWAL' AND s.offer_discount_type = 'PAY_AS_YOU_GO'
                          AND scale.periods[width_bucket(s.days_since_expiry, scale.days)]
                              IN (scale.periods[width_bucket(s.previous_days, scale.days)], p.period, s.advanced_commerce_period, usual.period)
                     THEN scale.periods[width_bucket(s.days_since_expiry, scale.days)] END,
                scale.periods[width_bucket(length.days, scale.days)],
                CASE WHEN s.transaction_reason = 'RENEWAL' THEN scale.periods[width_bucket(s.days_since_expiry, scale.days)] END
            ) END
        ) AS period
    FROM ordered_period s
    -- For seats: the price of the transaction's seats; the price of all seats of the period so far; when the last of them was refunded, if all
    -- were; the refunds of some of them, and the price before each; and the beginning of the period.
    LEFT JOIN (
        SELECT a.app_id, a.original_transaction_id, a.transaction_id, a.price_milliunits, a.transactions, a.all_revoked_at, a.period_starts_at,
               CASE WHEN a.price_milliunits IS NOT NULL THEN (
                   SELECT sum(part.price)::bigint FROM unnest(a.prices, a.revocation_dates) part (price, revoked_at)
                    WHERE part.revoked_at IS NULL OR part.revoked_at >= a.all_revoked_at
               ) END AS period_milliunits,
               refunds.dates AS refund_dates, refunds.milliunits AS milliunits_before_refunds
          FROM (
              SELECT a.*,
                     count(*) OVER so_far AS transactions,
                     array_agg(a.price_milliunits) OVER so_far AS prices,
                     array_agg(a.revocation_date) OVER so_far AS revocation_dates,
                     CASE WHEN count(a.revocation_date) OVER so_far = count(*) OVER so_far THEN max(a.revocation_date) OVER so_far END AS all_revoked_at,
                     min(a.purchase_date) OVER so_far AS period_starts_at
                FROM seat_purchases a
              WINDOW so_far AS (
                  PARTITION BY a.app_id, a.original_transaction_id, a.product_id, a.expires_date,
                               CASE WHEN a.additional_transaction_reason IS NULL THEN a.transaction_id END
                  ORDER BY a.purchase_date, a.transaction_id ROWS UNBOUNDED PRECEDING
              )
          ) a
          CROSS JOIN LATERAL (
              SELECT array_agg(refund.at ORDER BY refund.at) AS dates, array_agg(refund.milliunits ORDER BY refund.at) AS milliunits
                FROM (SELECT refunded.at, sum(part.price)::bigint AS milliunits
                        FROM (SELECT DISTINCT at FROM unnest(a.revocation_dates) at WHERE at > a.purchase_date AND a.transactions > 1) refunded
                        JOIN unnest(a.prices, a.revocation_dates) part (price, revoked_at)
                          ON part.revoked_at IS NULL OR part.revoked_at >= refunded.at
                       GROUP BY refunded.at) refund
          ) refunds
    ) seats ON seats.app_id = s.app_id AND seats.original_transaction_id = s.original_transaction_id
           AND seats.transaction_id = s.transaction_id
    LEFT JOIN renewals_signed r ON r.app_id = s.app_id AND r.original_transaction_id = s.original_transaction_id
    LEFT JOIN products p ON p.app_id = s.app_id AND p.product_id = s.product_id
    LEFT JOIN product_periods usual ON usual.app_id = s.app_id AND usual.product_id = s.product_id
    -- The condition is the same as in the index notifications_period_evidence.
    LEFT JOIN (
        SELECT n.app_id, n.original_transaction_id, coalesce(t.web_order_line_item_id, t.transaction_id) AS purchase_key,
               bool_or(n.notification_type = 'RENEWAL_EXTENDED') AS is_extended,
               -- A number outside the years 1970 to 9999 is not accepted as a date.
               max(CASE WHEN jsonb_typeof(n.payload #> '{data,signedRenewalInfo,gracePeriodExpiresDate}') = 'number'
                        THEN CASE WHEN (n.payload #>> '{data,signedRenewalInfo,gracePeriodExpiresDate}')::numeric
                                       BETWEEN 0 AND 253402300799999
                                  THEN to_timestamp(((n.payload #>> '{data,signedRenewalInfo,gracePeriodExpiresDate}')::numeric / 1000)::float8)
                             END
                   END) AS grace_until
          FROM notifications n
          JOIN transactions t ON t.app_id = n.app_id AND t.transaction_id = n.transaction_id
         WHERE n.notification_type = 'RENEWAL_EXTENDED'
            OR jsonb_typeof(n.payload #> '{data,signedRenewalInfo,gracePeriodExpiresDate}') = 'number'
         GROUP BY n.app_id, n.original_transaction_id, coalesce(t.web_order_line_item_id, t.transaction_id)
    ) from_notifications ON from_notifications.app_id = s.app_id AND from_notifications.original_transaction_id = s.original_transaction_id
          AND from_notifications.purchase_key = s.purchase_key
    CROSS JOIN LATERAL (
        SELECT CASE WHEN seats.period_starts_at < s.purchase_date
                    THEN date_part('epoch', s.expires_date - seats.period_starts_at) / 86400 ELSE s.days END AS days
    ) length
    -- width_bucket(length, days) is the position of the last number of days that is not greater than the length. The nominal period has the same
    -- position in the second array. NULL stands for lengths between two nominal periods.
    CROSS JOIN (VALUES (
        ARRAY[0.75, 1.5, 2.5, 3.5, 6, 8, 13, 15, 27, 33, 57, 65, 87, 95, 178, 188, 363, 375]::float8[],
        ARRAY['P1D', NULL, 'P3D', NULL, 'P1W', NULL, 'P2W', NULL, 'P1M', NULL, 'P2M', NULL, 'P3M', NULL, 'P6M', NULL, 'P1Y']
    )) scale (days, periods)
), shown AS (
    SELECT
        m.app_id, m.original_transaction_id, m.period_number, m.transaction_id, m.product_id,
        m.subscription_group_identifier, m.storefront, m.currency, m.paid_milliunits AS price_milliunits, m.transaction_reason,
        m.in_app_ownership_type, m.offer_type, m.offer_identifier, m.offer_discount_type, m.billing_plan_type,
        m.is_trial, m.is_family_shared, m.is_paid,
        m.purchase_date AS starts_at,
        m.expires_date,
        CASE WHEN m.expires_date IS NOT NULL THEN
            greatest(m.purchase_date,
                     least(coalesce(m.grace_until, m.expired_at), m.ending_revocation_date, m.next_starts_at))
        END AS ends_at,
        m.grace_until,
        CASE
            WHEN m.expires_date IS NULL THEN NULL
            WHEN m.ending_revocation_date < least(coalesce(m.grace_until, m.expired_at), m.next_starts_at)
                THEN CASE WHEN m.in_app_ownership_type = 'ASSIGNED' OR m.revocation_type = 'ASSIGNMENT_REVOKE' THEN 'assignment revocation'
                          WHEN m.is_family_shared OR m.revocation_type = 'FAMILY_REVOKE' THEN 'family revocation' ELSE 'refund' END
            WHEN m.next_starts_at < m.expires_date
                THEN CASE WHEN m.is_upgraded THEN 'upgrade' ELSE 'next period' END
            ELSE 'expiry'
        END AS ended_by,
        m.ending_revocation_date AS revocation_date,
        m.next_transaction_id, m.next_starts_at,
        m.period,
        CASE WHEN m.is_paid THEN
            -- Common periods come first: a regular expression for each row takes a sixth of the view's time.
            CASE m.period
                WHEN 'P1M' THEN m.period_milliunits
                WHEN 'P1W' THEN m.period_milliunits * 4
                WHEN 'P1Y' THEN round(m.period_milliunits / 12::numeric)::bigint
                ELSE round(m.period_milliunits / nominal.months)::bigint
            END
        END AS mrr_milliunits,
        CASE WHEN m.is_upgraded AND m.paid_milliunits > 0 AND m.additional_transaction_reason IS NULL AND NOT m.is_family_shared AND m.revocation_date IS NULL
                  AND m.next_starts_at < m.expires_date AND m.next_currency = m.currency
                  AND NOT EXISTS (SELECT FROM advanced_commerce_refunds a
                                   WHERE a.owner_kind = 'transaction' AND a.app_id = m.app_id AND a.owner_key = m.transaction_id
                                     AND a.refund_date IS NOT NULL)
             THEN round(m.paid_milliunits * extract(epoch FROM m.expires_date - m.next_starts_at)
                        / extract(epoch FROM m.expires_date - m.purchase_date))::bigint
        END AS estimated_upgrade_refund_milliunits,
        m.first_paid_at,
        m.is_extended,
        m.period_by_length,
        CASE WHEN m.is_paid THEN m.payments END AS payment_number,
        m.is_paid AND m.expires_date IS NOT NULL AND coalesce(m.next_is_active, false)
            AND m.next_starts_at <= least(coalesce(m.grace_until, m.expired_at), m.ending_revocation_date) AS is_continued,
        m.is_paid AND coalesce(m.next_is_renewal OR m.next_is_active
            AND m.next_starts_at <= least(coalesce(m.grace_until, m.expired_at), m.ending_revocation_date), false) AS is_renewed,
        m.next_product_id, m.next_storefront,
        m.has_had_trial AND NOT m.is_trial AS is_after_trial,
        m.signed_date, m.web_order_line_item_id,
        coalesce(m.expires_date <= least(m.ending_revocation_date, m.next_starts_at, 'infinity'), false) AS has_expired,
        coalesce(m.expires_date <= least(m.ending_revocation_date, m.next_starts_at) AND m.next_starts_at > m.expired_at
                 AND (m.ending_revocation_date >= m.expires_date) IS NOT FALSE, false) AS has_gap,
        -- A period was extended if its length reaches the next number of days in the scale. For a nominal period that is not in the scale, such as two
        -- years, the limit is 33 days for each month.
        CASE WHEN m.is_extended
                  OR m.offer_type IS NULL
                     AND m.length_in_days >= coalesce(m.scale_days[array_position(m.scale_periods, m.period) + 1], 33 * nominal.months)
             THEN (m.purchase_date AT TIME ZONE 'UTC' + m.period::interval) AT TIME ZONE 'UTC' END AS extended_from,
        m.refund_dates, m.milliunits_before_refunds, nominal.months
    FROM measured m
    CROSS JOIN LATERAL (
        SELECT substring(m.period FROM '[0-9]+')::numeric
               * CASE right(m.period, 1) WHEN 'D' THEN 1 / 30.0 WHEN 'W' THEN 0.25 WHEN 'M' THEN 1 WHEN 'Y' THEN 12 END AS months
    ) nominal
)
SELECT
    app_id, original_transaction_id, period_number, transaction_id, product_id, subscription_group_identifier, storefront, currency,
    price_milliunits, transaction_reason, in_app_ownership_type, offer_type, offer_identifier, offer_discount_type, billing_plan_type,
    is_trial, is_family_shared, is_paid, starts_at, expires_date, ends_at, grace_until, ended_by, revocation_date, next_transaction_id,
    next_starts_at, period, mrr_milliunits, estimated_upgrade_refund_milliunits, first_paid_at, is_extended, period_by_length,
    payment_number, is_continued, is_renewed, next_product_id, next_storefront, is_after_trial, signed_date,
    price_milliunits * 0.001 AS price_amount, mrr_milliunits * 0.001 AS mrr_amount,
    estimated_upgrade_refund_milliunits * 0.001 AS estimated_upgrade_refund_amount,
    web_order_line_item_id, has_expired, has_gap, extended_from,
    CASE WHEN refund_dates IS NOT NULL AND mrr_milliunits IS NOT NULL THEN (
        SELECT array_agg(at ORDER BY at) FROM unnest(refund_dates) at WHERE at < ends_at
    ) END AS seat_refunds_at,
    CASE WHEN refund_dates IS NOT NULL AND mrr_milliunits IS NOT NULL THEN (
        SELECT array_agg(round(refund.milliunits / months)::bigint ORDER BY refund.at)
          FROM unnest(refund_dates, milliunits_before_refunds) refund (at, milliunits) WHERE refund.at < ends_at
    ) END AS mrr_before_seat_refunds
FROM shown;
COMMENT ON VIEW subscription_periods IS
    'Every period of every auto-renewable subscription: its beginning and end, whether it was paid, and what ended it. Transactions without a purchaseDate are missing. Use App Store Connect''s reports for accounting.';
COMMENT ON COLUMN subscription_periods.price_milliunits IS
    'The price of the transaction after offers, in thousandths of a unit of currency: Apple''s price or, for several seats, the price of all seats of the transaction (seat_purchases). NULL if Apple sends no price.';
COMMENT ON COLUMN subscription_periods.period_number IS
    'The number of the period in the subscription, from 1. Trials count.';
COMMENT ON COLUMN subscription_periods.is_trial IS
    'Whether the period is a free trial: offerDiscountType FREE_TRIAL, or an introductory offer at the price 0.';
COMMENT ON COLUMN subscription_periods.is_family_shared IS
    'Whether another member of the family paid (FAMILY_SHARED), or the organization or group that assigned the access (ASSIGNED).';
COMMENT ON COLUMN subscription_periods.is_paid IS
    'Whether the customer paid: the period is not a trial, is not shared, and its price is not 0. An unknown price counts as paid.';
COMMENT ON COLUMN subscription_periods.starts_at IS
    'Apple''s purchaseDate: when the period begins.';
COMMENT ON COLUMN subscription_periods.ends_at IS
    'When the period ends or will end: the earliest of expiresDate (or the end of the grace period), revocationDate and the start of the next period. If Apple renewed it within an hour after expiresDate, and no notification names a failed payment, it ends when the next period starts. NULL without an expiresDate: the end is unknown, so no view counts the period as active.';
COMMENT ON COLUMN subscription_periods.revocation_date IS
    'Apple''s revocationDate, if the revocation ends the period. NULL for a refund of some seats while others of the period remain.';
COMMENT ON COLUMN subscription_periods.grace_until IS
    'Apple''s gracePeriodExpiresDate for this period after a failed payment. The sources are the notifications of its transaction and, for the last period, renewal info signed after the period began. NULL if no stored record contains a grace period.';
COMMENT ON COLUMN subscription_periods.ended_by IS
    'What ends the period: expiry (the period reached expiresDate, or the end of its grace period, whether or not a renewal followed), refund, family revocation, assignment revocation, upgrade, or next period (one that begins before this one expires).';
COMMENT ON COLUMN subscription_periods.next_transaction_id IS
    'The transaction of the subscription''s next period. NULL for the last period.';
COMMENT ON COLUMN subscription_periods.next_starts_at IS
    'When the next period begins. Later than ends_at if there was a gap. NULL for the last period.';
COMMENT ON COLUMN subscription_periods.period IS
    'The nominal period, as an ISO 8601 duration: from products, from Advanced Commerce, the product''s usual period, or the length of this period. Offers use their own length, and monthly billing is P1M. An extension does not change it. NULL if it is unknown.';
COMMENT ON COLUMN subscription_periods.mrr_milliunits IS
    'MRR of the period: its price brought to a month by RevenueCat''s factors (a day times 30, a week times 4, a year divided by 12), in thousandths of a unit of currency. After an addition of seats it is the MRR of all seats of the period, less refunded ones; mrr_before_seat_refunds has what it was before. NULL if nothing is paid, or if the price or the nominal period is unknown.';
COMMENT ON COLUMN subscription_periods.estimated_upgrade_refund_milliunits IS
    'Estimated refund if an upgrade replaced the period before it expired: the unused share of price_milliunits, in thousandths of a unit of currency. NULL without such an upgrade, or if the data do not allow an estimate. Apple does not report these refunds, so neither price_milliunits nor mrr_milliunits is reduced.';
COMMENT ON COLUMN subscription_periods.first_paid_at IS
    'When the subscription''s first paid period began, also on the periods before it. NULL if there is none. A payment that was refunded later counts.';
COMMENT ON COLUMN subscription_periods.is_extended IS
    'Whether Apple extended the period, according to a RENEWAL_EXTENDED notification.';
COMMENT ON COLUMN subscription_periods.period_by_length IS
    'The nominal period derived only from the length of this period, as an ISO 8601 duration. NULL if the length is not a usual one.';
COMMENT ON COLUMN subscription_periods.payment_number IS
    'The number of the paid period in the subscription, from 1. NULL if the period was not paid. Trials do not count.';
COMMENT ON COLUMN subscription_periods.is_continued IS
    'Whether this period is paid, and the next one is paid and begins by the end of this one: the subscription stays active without a gap. That is a renewal in time or in the grace period, or a change of the product.';
COMMENT ON COLUMN subscription_periods.is_renewed IS
    'Whether this period is paid, and Apple renewed it: is_continued, or a renewal after a gap, which is a failed payment that Apple recovered later. A purchase of the customer after a gap does not count.';
COMMENT ON COLUMN subscription_periods.next_product_id IS
    'The product of the next period. NULL for the last period.';
COMMENT ON COLUMN subscription_periods.next_storefront IS
    'The storefront of the next period. NULL for the last period.';
COMMENT ON COLUMN subscription_periods.is_after_trial IS
    'Whether the subscription had a free trial before this period. False for a trial.';
COMMENT ON COLUMN subscription_periods.signed_date IS 'When Apple signed the newest content of the transaction.';
COMMENT ON COLUMN subscription_periods.has_expired IS
    'Whether the period reaches or will reach its expiresDate: it is neither revoked nor replaced before. False without an expiresDate.';
COMMENT ON COLUMN subscription_periods.has_gap IS
    'Whether the period expired and the next one begins later. A renewal within an hour, without a notification of a failed payment, has no gap. A payment that was recovered in the grace period has one, although the service was not interrupted.';
COMMENT ON COLUMN subscription_periods.extended_from IS
    'When the nominal period ends and the extension begins, if Apple extended the period: according to a notification, or because the period is longer than its nominal period ever is. NULL for other periods. MRR and days of paid service do not count the extension.';
COMMENT ON COLUMN subscription_periods.seat_refunds_at IS
    'When seats of the period were refunded while others remained, in order. NULL if there was no such refund.';
COMMENT ON COLUMN subscription_periods.mrr_before_seat_refunds IS
    'MRR before each of seat_refunds_at, in thousandths of a unit of currency. mrr_milliunits is the MRR after the last one.';

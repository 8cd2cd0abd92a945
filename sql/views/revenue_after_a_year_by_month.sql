-- How much did subscribers pay after one year of paid service?
--
-- Apple's commission is lower after a subscriber has accumulated one year of paid service in a subscription group
-- (https://developer.apple.com/app-store/subscriptions/#revenue-after-one-year). Days of paid service accumulate across
-- renewals and product changes, and across a payment recovered in the grace period
-- (https://developer.apple.com/help/app-store-connect/manage-subscriptions/enable-billing-grace-period-for-auto-renewable-subscriptions).
-- A lapse of up to 60 days pauses the count. A longer lapse resets it. This view requires 365 days of paid periods of one
-- originalTransactionId before the payment. These are not paid service: free trials, shared and refunded periods, grace
-- periods without recovery, and days by which Apple extended a period. Free periods and extensions are no lapse. A sale
-- counts in the month of the purchase, a refund in the month of the refund.
--
-- One row for each app_id, month, product_id, storefront, currency.
-- Readers: loader, exporter, actor, analyst.

-- One row for each app_id, day, product_id, storefront, currency.
CREATE OR REPLACE VIEW refresh_later_payment_changes AS
SELECT
    app_id, day, product_id, storefront, currency,
    sum(purchases) AS purchases, sum(gross) AS gross_milliunits, sum(refunds) AS refunds, sum(refunded) AS refunded_milliunits
FROM (
    SELECT app_id, (starts_at AT TIME ZONE 'UTC')::date AS day, product_id, storefront, currency,
           sum(sign) AS purchases, sum(sign * price_milliunits) AS gross, 0 AS refunds, 0 AS refunded
      FROM refresh_changed_periods
     WHERE is_after_a_year
     GROUP BY app_id, (starts_at AT TIME ZONE 'UTC')::date, product_id, storefront, currency
    UNION ALL
    SELECT t.app_id, (t.refund_date AT TIME ZONE 'UTC')::date, t.product_id, t.storefront, t.currency, 0, 0, sum(t.sign), sum(t.sign * t.refunded_milliunits)
      FROM refresh_changed_customer_purchases t
      JOIN refresh_changed_subscription_periods p
        ON p.sign = t.sign AND p.app_id = t.app_id AND p.original_transaction_id = t.original_transaction_id AND p.transaction_id = t.transaction_id
     WHERE t.is_refunded AND p.is_after_a_year
     GROUP BY t.app_id, (t.refund_date AT TIME ZONE 'UTC')::date, t.product_id, t.storefront, t.currency
) booked
GROUP BY app_id, day, product_id, storefront, currency;

CREATE OR REPLACE VIEW revenue_after_a_year_by_month AS
SELECT
    app_id, date_trunc('month', day::timestamp)::date AS month, product_id, storefront, currency,
    sum(purchases)::bigint AS purchases,
    sum(gross_milliunits)::bigint AS gross_milliunits,
    sum(refunded_milliunits)::bigint AS refunded_milliunits,
    sum(gross_milliunits - refunded_milliunits)::bigint AS net_milliunits,
    sum(gross_milliunits) * 0.001 AS gross_amount,
    sum(refunded_milliunits) * 0.001 AS refunded_amount,
    sum(gross_milliunits - refunded_milliunits) * 0.001 AS net_amount
FROM refresh_later_payment_totals
GROUP BY app_id, date_trunc('month', day::timestamp), product_id, storefront, currency;
COMMENT ON VIEW revenue_after_a_year_by_month IS
    'The part of revenue_by_month that subscribers paid after one year of paid service. Apple''s commission on it is lower. A year is 365 days; Apple''s data do not contain Apple''s own count.';
COMMENT ON COLUMN revenue_after_a_year_by_month.month IS 'The month of the payment, or of the refund; its first day, in UTC.';
COMMENT ON COLUMN revenue_after_a_year_by_month.purchases IS 'Payments before which the subscriber had accumulated 365 days of paid service.';
COMMENT ON COLUMN revenue_after_a_year_by_month.gross_milliunits IS 'Prices of these payments, in thousandths of a unit of currency.';
COMMENT ON COLUMN revenue_after_a_year_by_month.refunded_milliunits IS 'Amounts refunded in the month of such payments, in thousandths of a unit of currency.';
COMMENT ON COLUMN revenue_after_a_year_by_month.net_milliunits IS 'gross_milliunits less refunded_milliunits.';

-- How much did subscribers pay after one year of paid service?
--
-- Apple's commission is lower after a subscriber has accumulated one year of paid service in a subscription group
-- (https://developer.apple.com/app-store/subscriptions/#revenue-after-one-year). Days of paid service accumulate across
-- renewals and product changes, and across a payment recovered in the grace period
-- (https://developer.apple.com/help/app-store-connect/manage-subscriptions/enable-billing-grace-period-for-auto-renewable-subscriptions).
-- A lapse of up to 60 days pauses the count. A longer lapse resets it. This view requires 365 days of paid periods of one
-- originalTransactionId before the payment. These are not paid service: free trials, shared and refunded periods, grace
-- periods without recovery, and days by which Apple extended a period. A sale counts in the month of the purchase, a refund
-- in the month of the refund.
--
-- One row for each app_id, month, product_id, storefront, currency.
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

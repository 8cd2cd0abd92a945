-- What share of each month's purchases was refunded, by product and storefront?
--
-- The definition is RevenueCat's: refunded paid transactions divided by paid transactions, by the date of the transaction.
-- The rate of a recent month still grows, because customers can request a refund for 90 days.
--
-- One row for each app_id, month, product_id, storefront, currency.
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW refresh_refund_rate_changes AS
SELECT
    app_id, date_trunc('month', purchase_date AT TIME ZONE 'UTC')::date AS month, product_id, storefront, currency,
    sum(sign) AS purchases,
    sum(sign) FILTER (WHERE is_refunded) AS refunded,
    sum(sign) FILTER (WHERE is_refunded AND refund_reason = 1) AS refunded_for_an_issue,
    sum(sign * price_milliunits) AS gross_milliunits,
    sum(sign * refunded_milliunits) AS refunded_milliunits
FROM refresh_changed_transactions
WHERE is_paid AND purchase_date IS NOT NULL
GROUP BY app_id, date_trunc('month', purchase_date AT TIME ZONE 'UTC')::date, product_id, storefront, currency;

-- One row for each app_id, month, product_id, storefront, currency, delay.
CREATE OR REPLACE VIEW refresh_refund_time_changes AS
SELECT
    app_id, date_trunc('month', purchase_date AT TIME ZONE 'UTC')::date AS month, product_id, storefront, currency, refund_date - purchase_date AS delay,
    sum(sign) AS purchases
FROM refresh_changed_transactions
WHERE is_paid AND purchase_date IS NOT NULL AND is_refunded
GROUP BY app_id, date_trunc('month', purchase_date AT TIME ZONE 'UTC')::date, product_id, storefront, currency, refund_date - purchase_date;

CREATE OR REPLACE VIEW refund_rate_by_month AS
SELECT
    app_id, month, product_id, storefront, currency,
    sum(purchases)::bigint AS purchases,
    sum(refunded)::bigint AS refunded,
    round(sum(refunded) / sum(purchases), 4) AS refund_rate,
    sum(for_an_issue)::bigint AS refunded_for_an_issue,
    sum(gross)::bigint AS gross_milliunits,
    sum(given_back)::bigint AS refunded_milliunits,
    max(median_delay) AS median_delay,
    sum(gross) * 0.001 AS gross_amount,
    sum(given_back) * 0.001 AS refunded_amount
FROM (
    SELECT app_id, month, product_id, storefront, currency, purchases, refunded, refunded_for_an_issue AS for_an_issue,
           gross_milliunits AS gross, refunded_milliunits AS given_back, NULL::interval AS median_delay
      FROM refresh_refund_rate_totals
    UNION ALL
    SELECT app_id, month, product_id, storefront, currency, 0, 0, 0, 0, 0, percentile_cont(0.5) WITHIN GROUP (ORDER BY delay)
      FROM refresh_refund_time_totals CROSS JOIN LATERAL generate_series(1, purchases) n
     GROUP BY app_id, month, product_id, storefront, currency
) counted
GROUP BY app_id, month, product_id, storefront, currency;
COMMENT ON VIEW refund_rate_by_month IS
    'Purchases of each month and how many of them have been refunded, whenever that was.';
COMMENT ON COLUMN refund_rate_by_month.month IS 'The month of the purchase; its first day, in UTC.';
COMMENT ON COLUMN refund_rate_by_month.purchases IS 'Purchases and renewals with a price.';
COMMENT ON COLUMN refund_rate_by_month.refunded IS 'How many of these purchases are refunded, in whole or in part.';
COMMENT ON COLUMN refund_rate_by_month.refund_rate IS 'refunded divided by purchases, 0 to 1. To combine rows, divide the sums.';
COMMENT ON COLUMN refund_rate_by_month.refunded_for_an_issue IS 'Refunded purchases whose revocationReason is an issue with the app.';
COMMENT ON COLUMN refund_rate_by_month.gross_milliunits IS 'Prices of the purchases, in thousandths of a unit of currency.';
COMMENT ON COLUMN refund_rate_by_month.refunded_milliunits IS 'Refunded amount of these purchases, in thousandths of a unit of currency.';
COMMENT ON COLUMN refund_rate_by_month.median_delay IS 'Median time from purchase to refund.';

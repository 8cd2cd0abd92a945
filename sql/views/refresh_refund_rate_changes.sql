-- What do the transactions that changed add to refresh_refund_rate_totals?
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

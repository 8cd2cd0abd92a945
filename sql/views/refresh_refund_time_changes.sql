-- What do the transactions that changed add to refresh_refund_time_totals?
CREATE OR REPLACE VIEW refresh_refund_time_changes AS
SELECT
    app_id, date_trunc('month', purchase_date AT TIME ZONE 'UTC')::date AS month, product_id, storefront, currency, refund_date - purchase_date AS delay,
    sum(sign) AS purchases
FROM refresh_changed_transactions
WHERE is_paid AND purchase_date IS NOT NULL AND is_refunded
GROUP BY app_id, date_trunc('month', purchase_date AT TIME ZONE 'UTC')::date, product_id, storefront, currency, refund_date - purchase_date;

-- What do the subscriptions that changed add to refresh_renewal_totals?
CREATE OR REPLACE VIEW refresh_renewal_changes AS
SELECT
    app_id, product_id, period, payment_number,
    sum(sign) AS subscriptions,
    sum(sign) FILTER (WHERE is_renewed OR ends_at <= as_of) AS due,
    sum(sign) FILTER (WHERE is_renewed) AS renewed
FROM refresh_changed_periods
WHERE is_paid
GROUP BY app_id, product_id, period, payment_number;

-- What do the subscriptions that changed add to refresh_later_payment_totals?
--
-- is_after_a_year of a period follows the rules of revenue_after_a_year_by_month.
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

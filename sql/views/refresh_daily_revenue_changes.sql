-- What does everything that changed add to refresh_daily_revenue_totals?
CREATE OR REPLACE VIEW refresh_daily_revenue_changes AS
SELECT
    app_id, day, product_id, storefront, currency,
    sum(purchases) AS purchases, sum(new_payments) AS new_payments, sum(renewal_payments) AS renewal_payments,
    sum(gross) AS gross_milliunits, sum(new) AS new_milliunits, sum(renewal) AS renewal_milliunits,
    sum(refunds) AS refunds, sum(refunded) AS refunded_milliunits
FROM (
    SELECT app_id, (purchase_date AT TIME ZONE 'UTC')::date AS day, product_id, storefront, currency, sum(sign) AS purchases,
           sum(sign * price_milliunits) AS gross, 0 AS new_payments, 0 AS renewal_payments, 0 AS new, 0 AS renewal,
           0 AS refunds, 0 AS refunded
      FROM refresh_changed_transactions WHERE is_paid AND purchase_date IS NOT NULL
     GROUP BY app_id, (purchase_date AT TIME ZONE 'UTC')::date, product_id, storefront, currency
    UNION ALL
    SELECT app_id, (starts_at AT TIME ZONE 'UTC')::date, product_id, storefront, currency, 0, 0,
           sum(sign) FILTER (WHERE payment_number = 1), sum(sign) FILTER (WHERE payment_number > 1),
           sum(sign * price_milliunits) FILTER (WHERE payment_number = 1),
           sum(sign * price_milliunits) FILTER (WHERE payment_number > 1), 0, 0
      FROM refresh_changed_periods WHERE is_paid
     GROUP BY app_id, (starts_at AT TIME ZONE 'UTC')::date, product_id, storefront, currency
    UNION ALL
    SELECT app_id, (refund_date AT TIME ZONE 'UTC')::date, product_id, storefront, currency, 0, 0, 0, 0, 0, 0,
           sum(sign), sum(sign * refunded_milliunits)
      FROM refresh_changed_transactions WHERE is_refunded AND is_paid
     GROUP BY app_id, (refund_date AT TIME ZONE 'UTC')::date, product_id, storefront, currency
) booked
GROUP BY app_id, day, product_id, storefront, currency;

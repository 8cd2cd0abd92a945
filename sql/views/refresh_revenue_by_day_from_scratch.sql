-- What does revenue_by_day show when it is computed from every record?
--
-- storeledger refresh --verify compares the two. Both have the columns of revenue_by_day.
CREATE OR REPLACE VIEW refresh_revenue_by_day_from_scratch AS
SELECT
    app_id, day, product_id, storefront, currency,
    sum(purchases)::bigint AS purchases,
    sum(new_payments)::bigint AS new_payments,
    sum(renewal_payments)::bigint AS renewal_payments,
    sum(gross)::bigint AS gross_milliunits,
    sum(new)::bigint AS new_milliunits,
    sum(renewal)::bigint AS renewal_milliunits,
    (sum(gross) - sum(new) - sum(renewal))::bigint AS one_time_milliunits,
    sum(refunds)::bigint AS refunds,
    sum(refunded)::bigint AS refunded_milliunits,
    (sum(gross) - sum(refunded))::bigint AS net_milliunits,
    sum(gross) * 0.001 AS gross_amount,
    sum(new) * 0.001 AS new_amount,
    sum(renewal) * 0.001 AS renewal_amount,
    (sum(gross) - sum(new) - sum(renewal)) * 0.001 AS one_time_amount,
    sum(refunded) * 0.001 AS refunded_amount,
    (sum(gross) - sum(refunded)) * 0.001 AS net_amount
FROM (
    SELECT app_id, (purchase_date AT TIME ZONE 'UTC')::date AS day, product_id, storefront, currency, count(*) AS purchases,
           coalesce(sum(price_milliunits), 0) AS gross, 0 AS new_payments, 0 AS renewal_payments, 0 AS new, 0 AS renewal,
           0 AS refunds, 0 AS refunded
      FROM purchases_at_refresh WHERE is_paid AND purchase_date IS NOT NULL
     GROUP BY app_id, (purchase_date AT TIME ZONE 'UTC')::date, product_id, storefront, currency
    UNION ALL
    SELECT app_id, (starts_at AT TIME ZONE 'UTC')::date, product_id, storefront, currency, 0, 0,
           count(*) FILTER (WHERE payment_number = 1), count(*) FILTER (WHERE payment_number > 1),
           coalesce(sum(price_milliunits) FILTER (WHERE payment_number = 1), 0),
           coalesce(sum(price_milliunits) FILTER (WHERE payment_number > 1), 0), 0, 0
      FROM subscription_periods_at_refresh WHERE is_paid
     GROUP BY app_id, (starts_at AT TIME ZONE 'UTC')::date, product_id, storefront, currency
    UNION ALL
    SELECT app_id, (refund_date AT TIME ZONE 'UTC')::date, product_id, storefront, currency, 0, 0, 0, 0, 0, 0,
           count(*), coalesce(sum(refunded_milliunits), 0)
      FROM purchases_at_refresh WHERE is_refunded AND is_paid
     GROUP BY app_id, (refund_date AT TIME ZONE 'UTC')::date, product_id, storefront, currency
) booked
GROUP BY app_id, day, product_id, storefront, currency;

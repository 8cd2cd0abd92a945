-- What does revenue_by_month show when it is computed from every record?
--
-- storeledger refresh --verify compares the two. Both have the columns of revenue_by_month.
CREATE OR REPLACE VIEW refresh_revenue_by_month_from_scratch AS
SELECT
    app_id, month, product_id, type, storefront, currency,
    sum(purchases)::bigint AS purchases,
    sum(units)::bigint AS units,
    sum(free)::bigint AS free_purchases,
    sum(gross)::bigint AS gross_milliunits,
    sum(refunds)::bigint AS refunds,
    sum(refunded)::bigint AS refunded_milliunits,
    (sum(gross) - sum(refunded))::bigint AS net_milliunits,
    sum(without_price)::bigint AS without_price,
    sum(upgrades)::bigint AS estimated_upgrade_refunds,
    sum(upgrade_refunds)::bigint AS estimated_upgrade_refund_milliunits,
    sum(gross) * 0.001 AS gross_amount,
    sum(refunded) * 0.001 AS refunded_amount,
    (sum(gross) - sum(refunded)) * 0.001 AS net_amount,
    sum(upgrade_refunds) * 0.001 AS estimated_upgrade_refund_amount
FROM (
    SELECT app_id, month, product_id, type, storefront, currency, count(*) FILTER (WHERE is_paid) AS purchases,
           coalesce(sum(quantity) FILTER (WHERE is_paid), 0) AS units, count(*) FILTER (WHERE NOT is_paid) AS free,
           coalesce(sum(price_milliunits), 0) AS gross, 0 AS refunds, 0 AS refunded,
           count(*) FILTER (WHERE price_milliunits IS NULL) AS without_price, 0 AS upgrades, 0 AS upgrade_refunds
      FROM purchases_at_refresh WHERE month IS NOT NULL GROUP BY app_id, month, product_id, type, storefront, currency
    UNION ALL
    SELECT app_id, refund_month, product_id, type, storefront, currency, 0, 0, 0, 0, count(*),
           coalesce(sum(refunded_milliunits), 0), 0, 0, 0
      FROM purchases_at_refresh WHERE is_refunded AND is_paid
     GROUP BY app_id, refund_month, product_id, type, storefront, currency
    UNION ALL
    SELECT app_id, date_trunc('month', next_starts_at AT TIME ZONE 'UTC')::date, product_id, 'Auto-Renewable Subscription', storefront,
           currency, 0, 0, 0, 0, 0, 0, 0, count(*), sum(estimated_upgrade_refund_milliunits)
      FROM subscription_periods_at_refresh WHERE estimated_upgrade_refund_milliunits IS NOT NULL
     GROUP BY app_id, date_trunc('month', next_starts_at AT TIME ZONE 'UTC')::date, product_id, storefront, currency
) booked
GROUP BY app_id, month, product_id, type, storefront, currency;

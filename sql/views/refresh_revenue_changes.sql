-- What does everything that changed add to refresh_revenue_totals?
CREATE OR REPLACE VIEW refresh_revenue_changes AS
SELECT
    app_id, month, product_id, type, storefront, currency,
    sum(purchases) AS purchases, sum(units) AS units, sum(free) AS free_purchases, sum(gross) AS gross_milliunits,
    sum(refunds) AS refunds, sum(refunded) AS refunded_milliunits, sum(without_price) AS without_price,
    sum(upgrades) AS estimated_upgrade_refunds, sum(upgrade_refunds) AS estimated_upgrade_refund_milliunits
FROM (
    SELECT app_id, date_trunc('month', purchase_date AT TIME ZONE 'UTC')::date AS month, product_id, type, storefront, currency, sum(sign) FILTER (WHERE is_paid) AS purchases,
           sum(sign * quantity) FILTER (WHERE is_paid) AS units, sum(sign) FILTER (WHERE NOT is_paid) AS free,
           sum(sign * price_milliunits) AS gross, 0 AS refunds, 0 AS refunded,
           sum(sign) FILTER (WHERE price_milliunits IS NULL) AS without_price, 0 AS upgrades, 0 AS upgrade_refunds
      FROM refresh_changed_transactions WHERE is_purchase AND purchase_date IS NOT NULL
     GROUP BY app_id, date_trunc('month', purchase_date AT TIME ZONE 'UTC')::date, product_id, type, storefront, currency
    UNION ALL
    SELECT app_id, date_trunc('month', refund_date AT TIME ZONE 'UTC')::date, product_id, type, storefront, currency, 0, 0, 0, 0, sum(sign),
           sum(sign * refunded_milliunits), 0, 0, 0
      FROM refresh_changed_transactions WHERE is_refunded AND is_paid
     GROUP BY app_id, date_trunc('month', refund_date AT TIME ZONE 'UTC')::date, product_id, type, storefront, currency
    UNION ALL
    SELECT app_id, date_trunc('month', next_starts_at AT TIME ZONE 'UTC')::date, product_id, 'Auto-Renewable Subscription', storefront,
           currency, 0, 0, 0, 0, 0, 0, 0, sum(sign), sum(sign * estimated_upgrade_refund_milliunits)
      FROM refresh_changed_periods WHERE estimated_upgrade_refund_milliunits IS NOT NULL
     GROUP BY app_id, date_trunc('month', next_starts_at AT TIME ZONE 'UTC')::date, product_id, storefront, currency
) booked
GROUP BY app_id, month, product_id, type, storefront, currency;

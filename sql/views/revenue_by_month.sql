-- How much was sold and how much refunded each month, by product, storefront and currency?
--
-- A sale counts in the month of the purchase, a refund in the month of the refund, so that a month that is over changes no
-- more when somebody is refunded later. RevenueCat's revenue is the other way: there a refund lowers the month of the
-- purchase; see refund_rate_by_month for that.
CREATE MATERIALIZED VIEW IF NOT EXISTS revenue_by_month AS
SELECT
    app_id, month, product_id, type, storefront, currency,
    sum(purchases)::bigint AS purchases,
    sum(units)::bigint AS units,
    sum(free)::bigint AS free_purchases,
    sum(gross)::bigint AS gross_milliunits,
    sum(refunds)::bigint AS refunds,
    sum(refunded)::bigint AS refunded_milliunits,
    (sum(gross) - sum(refunded))::bigint AS net_milliunits,
    sum(without_price)::bigint AS without_price
FROM (
    SELECT app_id, month, product_id, type, storefront, currency, count(*) FILTER (WHERE is_paid) AS purchases,
           coalesce(sum(quantity) FILTER (WHERE is_paid), 0) AS units, count(*) FILTER (WHERE NOT is_paid) AS free,
           coalesce(sum(price_milliunits), 0) AS gross, 0 AS refunds, 0 AS refunded,
           count(*) FILTER (WHERE price_milliunits IS NULL) AS without_price
      FROM purchases_at_refresh WHERE month IS NOT NULL GROUP BY app_id, month, product_id, type, storefront, currency
    UNION ALL
    SELECT app_id, refund_month, product_id, type, storefront, currency, 0, 0, 0, 0, count(*),
           coalesce(sum(refunded_milliunits), 0), 0
      FROM purchases_at_refresh WHERE is_refunded AND is_paid
     GROUP BY app_id, refund_month, product_id, type, storefront, currency
) booked
GROUP BY app_id, month, product_id, type, storefront, currency
WITH NO DATA;
CREATE UNIQUE INDEX IF NOT EXISTS revenue_by_month_key
    ON revenue_by_month (app_id, month, product_id, type, storefront, currency) NULLS NOT DISTINCT;
COMMENT ON MATERIALIZED VIEW revenue_by_month IS
    'Sales and refunds of each month, gross of Apple''s commission and of tax, one currency a row. Apple''s fiscal months differ from calendar months, and App Store Connect''s reports, not price, are the books.';
COMMENT ON COLUMN revenue_by_month.month IS 'The first day of the month, in UTC.';
COMMENT ON COLUMN revenue_by_month.purchases IS 'Purchases and renewals with a price.';
COMMENT ON COLUMN revenue_by_month.units IS 'Apple''s quantity of them, added up.';
COMMENT ON COLUMN revenue_by_month.free_purchases IS 'Transactions at the price 0, trials among them.';
COMMENT ON COLUMN revenue_by_month.gross_milliunits IS 'Prices of the month''s purchases, in thousandths of a unit of currency.';
COMMENT ON COLUMN revenue_by_month.refunds IS 'Purchases of whichever month that were refunded in this one, in whole or in part.';
COMMENT ON COLUMN revenue_by_month.refunded_milliunits IS 'What was given back in the month, in thousandths of a unit of currency.';
COMMENT ON COLUMN revenue_by_month.net_milliunits IS 'gross_milliunits less refunded_milliunits; below 0 when more was given back than taken.';
COMMENT ON COLUMN revenue_by_month.without_price IS 'Purchases whose price Apple does not tell; they add nothing to gross_milliunits.';

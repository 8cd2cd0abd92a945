-- How much revenue came each day from new subscriptions, from renewals and from one-time purchases?
--
-- The first payment of a subscription is new revenue, even after a free trial. Every later payment is renewal revenue. A sale
-- counts on the day of the purchase, a refund on the day of the refund. So the days add up to the months of revenue_by_month.
CREATE MATERIALIZED VIEW IF NOT EXISTS revenue_by_day AS
SELECT
    app_id, day, product_id, currency,
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
    SELECT app_id, (purchase_date AT TIME ZONE 'UTC')::date AS day, product_id, currency, count(*) AS purchases,
           coalesce(sum(price_milliunits), 0) AS gross, 0 AS new_payments, 0 AS renewal_payments, 0 AS new, 0 AS renewal,
           0 AS refunds, 0 AS refunded
      FROM purchases_at_refresh WHERE is_paid AND purchase_date IS NOT NULL
     GROUP BY app_id, (purchase_date AT TIME ZONE 'UTC')::date, product_id, currency
    UNION ALL
    SELECT app_id, (starts_at AT TIME ZONE 'UTC')::date, product_id, currency, 0, 0,
           count(*) FILTER (WHERE payment_number = 1), count(*) FILTER (WHERE payment_number > 1),
           coalesce(sum(price_milliunits) FILTER (WHERE payment_number = 1), 0),
           coalesce(sum(price_milliunits) FILTER (WHERE payment_number > 1), 0), 0, 0
      FROM subscription_periods_at_refresh WHERE is_paid
     GROUP BY app_id, (starts_at AT TIME ZONE 'UTC')::date, product_id, currency
    UNION ALL
    SELECT app_id, (refund_date AT TIME ZONE 'UTC')::date, product_id, currency, 0, 0, 0, 0, 0, 0,
           count(*), coalesce(sum(refunded_milliunits), 0)
      FROM purchases_at_refresh WHERE is_refunded AND is_paid
     GROUP BY app_id, (refund_date AT TIME ZONE 'UTC')::date, product_id, currency
) booked
GROUP BY app_id, day, product_id, currency
WITH NO DATA;
CREATE UNIQUE INDEX IF NOT EXISTS revenue_by_day_key ON revenue_by_day (app_id, day, product_id, currency) NULLS NOT DISTINCT;
COMMENT ON MATERIALIZED VIEW revenue_by_day IS
    'Sales and refunds of each day by product and currency, before Apple''s commission and tax: gross = new + renewal + one_time. Days without sales and refunds have no row. Today''s row is as of the last refresh.';
COMMENT ON COLUMN revenue_by_day.day IS 'The day, in UTC.';
COMMENT ON COLUMN revenue_by_day.purchases IS 'Purchases and renewals with a price.';
COMMENT ON COLUMN revenue_by_day.new_payments IS 'Those of purchases that are the first payment of a subscription.';
COMMENT ON COLUMN revenue_by_day.renewal_payments IS 'Those of purchases that are a later payment of a subscription: renewals, product changes, purchases after a gap.';
COMMENT ON COLUMN revenue_by_day.gross_milliunits IS 'Prices of the day''s purchases, in thousandths of a unit of currency.';
COMMENT ON COLUMN revenue_by_day.new_milliunits IS 'First payments of subscriptions, including trial conversions, in thousandths of a unit of currency.';
COMMENT ON COLUMN revenue_by_day.renewal_milliunits IS 'Later payments of subscriptions, in thousandths of a unit of currency.';
COMMENT ON COLUMN revenue_by_day.one_time_milliunits IS 'All other purchases, in thousandths of a unit of currency.';
COMMENT ON COLUMN revenue_by_day.refunds IS 'Purchases that were refunded on the day, in whole or in part, regardless of the purchase date.';
COMMENT ON COLUMN revenue_by_day.refunded_milliunits IS 'Amounts refunded on the day, in thousandths of a unit of currency.';
COMMENT ON COLUMN revenue_by_day.net_milliunits IS 'gross_milliunits less refunded_milliunits. The estimated refunds of upgrades are not subtracted.';

-- How much revenue came each day from new subscriptions, from renewals and from one-time purchases?
--
-- The first payment of a subscription is new revenue, even after a free trial. Every later payment is renewal revenue. A sale
-- counts on the day of the purchase, a refund on the day of the refund. So the days add up to the months of revenue_by_month.
--
-- One row for each app_id, day, product_id, storefront, currency.
-- Readers: loader, exporter, actor, analyst.
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

CREATE OR REPLACE VIEW revenue_by_day AS
SELECT
    app_id, day, product_id, storefront, currency, purchases, new_payments, renewal_payments,
    gross_milliunits, new_milliunits, renewal_milliunits,
    gross_milliunits - new_milliunits - renewal_milliunits AS one_time_milliunits,
    refunds, refunded_milliunits,
    gross_milliunits - refunded_milliunits AS net_milliunits,
    gross_milliunits * 0.001 AS gross_amount,
    new_milliunits * 0.001 AS new_amount,
    renewal_milliunits * 0.001 AS renewal_amount,
    (gross_milliunits - new_milliunits - renewal_milliunits) * 0.001 AS one_time_amount,
    refunded_milliunits * 0.001 AS refunded_amount,
    (gross_milliunits - refunded_milliunits) * 0.001 AS net_amount
FROM refresh_daily_revenue_totals;
COMMENT ON VIEW revenue_by_day IS
    'Sales and refunds of each day by product, storefront and currency, before Apple''s commission and tax: gross = new + renewal + one_time. Days without sales and refunds have no row. Today''s row is as of the last refresh.';
COMMENT ON COLUMN revenue_by_day.day IS 'The day, in UTC.';
COMMENT ON COLUMN revenue_by_day.purchases IS 'Purchases and renewals with a price.';
COMMENT ON COLUMN revenue_by_day.new_payments IS 'Purchases that are the first payment of a subscription.';
COMMENT ON COLUMN revenue_by_day.renewal_payments IS 'Purchases that are a later payment of a subscription: renewals, product changes, purchases after a gap.';
COMMENT ON COLUMN revenue_by_day.gross_milliunits IS 'Prices of the day''s purchases, in thousandths of a unit of currency.';
COMMENT ON COLUMN revenue_by_day.new_milliunits IS 'First payments of subscriptions, including trial conversions, in thousandths of a unit of currency.';
COMMENT ON COLUMN revenue_by_day.renewal_milliunits IS 'Later payments of subscriptions, in thousandths of a unit of currency.';
COMMENT ON COLUMN revenue_by_day.one_time_milliunits IS 'All other purchases, in thousandths of a unit of currency.';
COMMENT ON COLUMN revenue_by_day.refunds IS 'Purchases with a price that were refunded on the day, in whole or in part, regardless of the purchase date.';
COMMENT ON COLUMN revenue_by_day.refunded_milliunits IS 'Amounts refunded on the day, in thousandths of a unit of currency.';
COMMENT ON COLUMN revenue_by_day.net_milliunits IS 'gross_milliunits less refunded_milliunits. The estimated refunds of upgrades are not subtracted.';

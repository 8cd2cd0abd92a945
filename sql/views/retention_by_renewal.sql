-- How many of those who paid for the n-th time paid again?
--
-- RevenueCat: only a subscription that had the opportunity to renew is in the denominator, so one that still runs is in none.
-- Here by the number of the payment; retention_cohorts counts calendar months instead.
CREATE MATERIALIZED VIEW IF NOT EXISTS retention_by_renewal AS
SELECT
    app_id, product_id, period, payment_number,
    count(*) AS subscriptions,
    count(*) FILTER (WHERE is_renewed OR ends_at <= now()) AS due,
    count(*) FILTER (WHERE is_renewed) AS renewed,
    round(count(*) FILTER (WHERE is_renewed)::numeric / nullif(count(*) FILTER (WHERE is_renewed OR ends_at <= now()), 0), 4)
        AS retention_rate
FROM subscription_periods_at_refresh
WHERE is_paid
GROUP BY app_id, product_id, period, payment_number
WITH NO DATA;
CREATE UNIQUE INDEX IF NOT EXISTS retention_by_renewal_key
    ON retention_by_renewal (app_id, product_id, period, payment_number) NULLS NOT DISTINCT;
COMMENT ON MATERIALIZED VIEW retention_by_renewal IS
    'Of the subscriptions that were paid for the n-th time, how many were paid for again, by product. As of the last refresh.';
COMMENT ON COLUMN retention_by_renewal.product_id IS 'The product of the n-th payment.';
COMMENT ON COLUMN retention_by_renewal.period IS 'The period of that payment, ISO 8601; NULL when unknown.';
COMMENT ON COLUMN retention_by_renewal.payment_number IS 'Which payment of the subscription, from 1; trials do not count.';
COMMENT ON COLUMN retention_by_renewal.subscriptions IS 'Subscriptions that were paid for that often.';
COMMENT ON COLUMN retention_by_renewal.due IS 'How many of them renewed or ended: the denominator. Those that still run are not due; those in billing retry are.';
COMMENT ON COLUMN retention_by_renewal.renewed IS 'How many of them were paid for again without a new purchase after a gap; a change of product counts, and so does a payment that Apple recovered.';
COMMENT ON COLUMN retention_by_renewal.retention_rate IS 'renewed over due, 0 to 1; NULL while none is due. For several products divide the sums.';

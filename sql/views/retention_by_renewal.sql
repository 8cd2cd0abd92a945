-- How many of the subscriptions that were paid for the n-th time were paid again?
--
-- The definition is RevenueCat's: the denominator contains only subscriptions that had the opportunity to renew, so a
-- current period does not count. This view counts payments; retention_cohorts counts calendar months.
--
-- One row for each app_id, product_id, period, payment_number.
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW refresh_renewal_changes AS
SELECT
    app_id, product_id, period, payment_number,
    sum(sign) AS subscriptions,
    sum(sign) FILTER (WHERE is_renewed OR ends_at <= as_of) AS due,
    sum(sign) FILTER (WHERE is_renewed) AS renewed
FROM refresh_changed_periods
WHERE is_paid
GROUP BY app_id, product_id, period, payment_number;

CREATE OR REPLACE VIEW retention_by_renewal AS
SELECT
    app_id, product_id, period, payment_number, subscriptions, due, renewed,
    round(renewed::numeric / nullif(due, 0), 4) AS retention_rate
FROM refresh_renewal_totals;
COMMENT ON VIEW retention_by_renewal IS
    'Subscriptions that were paid for the n-th time, and how many of them were paid again, by product. As of the last refresh.';
COMMENT ON COLUMN retention_by_renewal.product_id IS 'The product of the n-th payment.';
COMMENT ON COLUMN retention_by_renewal.period IS 'The nominal period of that payment, as an ISO 8601 duration. NULL if it is unknown.';
COMMENT ON COLUMN retention_by_renewal.payment_number IS 'The number of the payment in the subscription, from 1. Trials do not count.';
COMMENT ON COLUMN retention_by_renewal.subscriptions IS 'Subscriptions with at least that many payments.';
COMMENT ON COLUMN retention_by_renewal.due IS 'How many of these subscriptions renewed or ended: the denominator of retention_rate. Subscriptions in their current period are not due. Subscriptions in billing retry are due.';
COMMENT ON COLUMN retention_by_renewal.renewed IS 'How many of the due subscriptions were paid again. A product change counts, and so does a payment that Apple recovered. A new purchase after a gap does not count.';
COMMENT ON COLUMN retention_by_renewal.retention_rate IS 'renewed divided by due, 0 to 1. NULL while none is due. To combine products, divide the sums.';

-- How many customers turned off auto-renewal on each day, and how much MRR do these cancellations affect?
--
-- The source is DID_CHANGE_RENEWAL_STATUS notifications: AUTO_RENEW_DISABLED when the customer cancels or requests a refund
-- in the app, AUTO_RENEW_ENABLED when auto-renewal is turned on again. A cancelled subscription runs until it expires; see
-- mrr_at_risk_by_month. Apple keeps notifications for 180 days, so older days are missing unless an earlier crawl read them.
--
-- One row for each app_id, day, product_id, storefront, currency.
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW refresh_cancellation_changes AS
SELECT
    app_id, day, product_id, storefront, currency,
    sum(sign) FILTER (WHERE NOT is_renewal_on) AS cancelled,
    sum(sign) FILTER (WHERE NOT is_renewal_on AND is_trial) AS cancelled_trials,
    sum(sign) FILTER (WHERE is_renewal_on) AS resumed,
    sum(sign) FILTER (WHERE is_renewal_on AND is_trial) AS resumed_trials,
    sum(sign * mrr_milliunits) FILTER (WHERE NOT is_renewal_on) AS cancelled_mrr_milliunits,
    sum(sign * mrr_milliunits) FILTER (WHERE is_renewal_on) AS resumed_mrr_milliunits
FROM refresh_changed_cancellations
GROUP BY app_id, day, product_id, storefront, currency;

CREATE OR REPLACE VIEW cancellations_by_day AS
SELECT
    app_id, day, product_id, storefront, currency, cancelled, cancelled_trials, resumed, resumed_trials,
    cancelled_mrr_milliunits, resumed_mrr_milliunits,
    cancelled_mrr_milliunits * 0.001 AS cancelled_mrr_amount,
    resumed_mrr_milliunits * 0.001 AS resumed_mrr_amount
FROM refresh_cancellation_totals;
COMMENT ON VIEW cancellations_by_day IS
    'Auto-renewal turned off and on again, by day, product, storefront and currency, from notifications. Every change counts, including several by one customer. Days without a change have no row. As of the last refresh.';
COMMENT ON COLUMN cancellations_by_day.day IS 'The day on which Apple signed the notification, in UTC.';
COMMENT ON COLUMN cancellations_by_day.product_id IS 'The product of the period in which auto-renewal was turned off or on.';
COMMENT ON COLUMN cancellations_by_day.storefront IS 'The storefront of that period. NULL if the transaction is not in the ledger.';
COMMENT ON COLUMN cancellations_by_day.currency IS 'The currency of that period. NULL if the transaction is not in the ledger.';
COMMENT ON COLUMN cancellations_by_day.cancelled IS 'Notifications that auto-renewal was turned off.';
COMMENT ON COLUMN cancellations_by_day.cancelled_trials IS 'Notifications that auto-renewal was turned off during a free trial.';
COMMENT ON COLUMN cancellations_by_day.resumed IS 'Notifications that auto-renewal was turned on again.';
COMMENT ON COLUMN cancellations_by_day.resumed_trials IS 'Notifications that auto-renewal was turned on again during a free trial.';
COMMENT ON COLUMN cancellations_by_day.cancelled_mrr_milliunits IS 'MRR of the periods in which auto-renewal was turned off, in thousandths of a unit of currency. Trials have no MRR.';
COMMENT ON COLUMN cancellations_by_day.resumed_mrr_milliunits IS 'MRR of the periods in which auto-renewal was turned on again, in thousandths of a unit of currency.';

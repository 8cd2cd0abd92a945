-- How many free trials began on each day, and what was their outcome?
--
-- The definition is RevenueCat's: a new trial counts on the day it starts, and is converted when a paid transaction follows
-- in the same subscription, before another trial begins. Free periods of one subscription are one trial only if each begins when
-- the one before ends. A trial whose first payment fails is lost until Apple recovers the payment.
--
-- One row for each app_id, day, product_id, storefront.
CREATE OR REPLACE VIEW trials_by_day AS
SELECT
    app_id, day, product_id, storefront, started, converted, running, will_not_renew, lost,
    round(converted::numeric / started, 4) AS conversion_rate
FROM refresh_trial_totals;
COMMENT ON VIEW trials_by_day IS
    'Free trials by the day they began, product and storefront, and their outcome so far: started = converted + running + lost. Days without a new trial have no row. Family Sharing is not counted. As of the last refresh.';
COMMENT ON COLUMN trials_by_day.day IS 'The day the trial began, in UTC.';
COMMENT ON COLUMN trials_by_day.product_id IS 'The product of the trial.';
COMMENT ON COLUMN trials_by_day.started IS 'Free trials that began on the day.';
COMMENT ON COLUMN trials_by_day.converted IS 'Trials that were followed by a payment, whenever that was, before another trial of the subscription. A later refund does not undo the conversion.';
COMMENT ON COLUMN trials_by_day.running IS 'Trials that still run.';
COMMENT ON COLUMN trials_by_day.will_not_renew IS 'Running trials with auto-renewal off. RevenueCat calls them cancelled trials.';
COMMENT ON COLUMN trials_by_day.lost IS 'Trials that have ended without a payment so far. A trial without an expiresDate counts here.';
COMMENT ON COLUMN trials_by_day.conversion_rate IS 'converted divided by started, 0 to 1. It can still grow while trials run. To combine rows, divide the sums.';

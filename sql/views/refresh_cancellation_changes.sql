-- What do the notifications that changed add to refresh_cancellation_totals?
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

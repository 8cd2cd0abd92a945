-- title: Renewal switched off and on
-- section: retention-and-churn
-- means: Apple's notifications that automatic renewal was switched off, or on again; each change counts.
-- docs: metrics.md#rules-that-the-views-about-subscriptions-share
-- nothing: No notification of this range says that renewal was switched off.
-- views: cancellations_by_day
-- flags: wide
-- column: day | day | Day
-- column: product_id | text | Product
-- column: storefront | text | Storefront
-- column: currency | text | Currency
-- column: paid | count of cancelled | Off, paid | cancelled - cancelled_trials
-- column: cancelled_trials | count of cancelled | Off, trial
-- column: cancelled | count | Off
-- column: resumed | count | On again
-- draw: bars paid/1 cancelled_trials/4 resumed/0/below
SELECT app_id, day, product_id, storefront, currency, cancelled, cancelled_trials, resumed
  FROM cancellations_by_day WHERE app_id = ANY (:apps::text[]::integer[])

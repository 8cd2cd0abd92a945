-- title: Trials and their outcome
-- section: trials-and-offers
-- means: Free trials by the day on which they began, and their outcome so far; a trial is paid when a payment follows before the next trial.
-- note: All currencies.
-- docs: metrics.md#definitions-ours-and-others
-- nothing: No free trial began in this range.
-- views: trials_by_day
-- flags: shares
-- column: day | day | Day
-- column: product_id | text | Product
-- column: storefront | text | Storefront
-- column: converted | count of started | Paid
-- column: running | count of started | Running
-- column: will_not_renew | count of running | Running, renewal off
-- column: lost | count of started | Ended without a payment
-- column: started | count | All | converted + running + lost
-- draw: bars converted/0 running/2 lost/1
SELECT app_id, day, product_id, storefront, converted, running, will_not_renew, lost
  FROM trials_by_day WHERE app_id = ANY (:apps::text[]::integer[])

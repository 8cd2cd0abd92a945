-- title: New paid subscriptions
-- section: subscriptions
-- means: Subscriptions by the day of their first payment, and whether a trial or an introductory offer came before it.
-- note: All currencies.
-- docs: metrics.md#definitions-ours-and-others
-- nothing: No new paid subscription in this range.
-- views: new_subscriptions_by_day
-- flags: shares
-- column: day | day | Day
-- column: product_id | text | Product
-- column: storefront | text | Storefront
-- column: after_trial | count of new | After a trial
-- column: introductory | count of new | Introductory offer
-- column: direct | count of new | Direct
-- column: with_offer | count of direct | Direct with another offer
-- column: new | count | All | after_trial + introductory + direct
-- draw: bars after_trial/0 introductory/2 direct/3
SELECT app_id, day, product_id, storefront, trial_conversions AS after_trial, introductory, direct, direct_with_offer AS with_offer
  FROM new_subscriptions_by_day WHERE app_id = ANY (:apps::text[]::integer[])

-- title: States of subscriptions
-- section: subscriptions
-- means: Subscriptions as of the last refresh by the product of the last period and their state.
-- note: “Apple's status” counts the states that Apple answered itself (Get All Subscription Statuses, not signed); the others follow from signed records.
-- docs: metrics.md#rules-that-the-views-about-subscriptions-share
-- nothing: No subscriptions.
-- views: subscriptions_by_status
-- flags: wide shares
-- rows: product_id
-- column: product_id | text | Product
-- column: storefront | text | Storefront
-- column: currency | text | Currency
-- column: active | count of total | Active
-- column: grace | count of total | Grace period
-- column: retry | count of total | Billing retry
-- column: expired | count of total | Expired
-- column: revoked | count of total | Revoked
-- column: unknown | count of total | Unknown
-- column: reported | count of total | Apple's status
-- column: total | count | All | active + grace + retry + expired + revoked + unknown
-- draw: rows active/0 grace/2 retry/1 expired/5 revoked/4
SELECT app_id, product_id, storefront, currency, CASE WHEN status = 'active' THEN subscriptions ELSE 0 END AS active,
       CASE WHEN status = 'grace period' THEN subscriptions ELSE 0 END AS grace,
       CASE WHEN status = 'billing retry' THEN subscriptions ELSE 0 END AS retry,
       CASE WHEN status = 'expired' THEN subscriptions ELSE 0 END AS expired,
       CASE WHEN status = 'revoked' THEN subscriptions ELSE 0 END AS revoked,
       CASE WHEN status NOT IN ('active', 'grace period', 'billing retry', 'expired', 'revoked') THEN subscriptions ELSE 0 END AS unknown,
       reported_by_apple AS reported
  FROM subscriptions_by_status WHERE app_id = ANY (:apps::text[]::integer[])

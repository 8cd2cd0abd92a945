-- title: MRR and its movement
-- section: recurring
-- means: Monthly recurring revenue at the end of each month, and what moved it; a yearly price counts a twelfth, Apple's commission is not deducted.
-- note: All products and storefronts together, so a change of product is expansion or contraction. A month opens with the MRR before at its own rates.
-- see: movement-by-product movement-by-storefront churn
-- defines: The end of a month compared with the end of the month before, for each subscription. New: its first payment was in the month. Came back: it was paid for before, and not active at the end of the month before. Expansion and contraction: the same subscription at a higher or lower price. Churn: active then, not active now. A month is converted at the rate of its last day, so its beginning can differ from the end of the month before by the change of the rates.
-- docs: metrics.md#definitions-ours-and-others
-- nothing: No paid subscriptions in this range.
-- views: mrr_movement_by_month
-- flags: wide
-- column: month | month | Month
-- column: currency | text | Currency
-- column: opening | money at start | At its beginning
-- column: new | money | New
-- column: reactivation | money if any | Came back
-- column: expansion | money if any | Expansion
-- column: switched_in | money if any | From another currency
-- column: contraction | money if any | Contraction
-- column: churn | money | Churn
-- column: switched_out | money if any | To another currency
-- column: closing | money at end | MRR at its end
-- column: subscriptions | count at end | Subscriptions at its end
-- draw: bars closing/6/line/apart new/0 reactivation/2 expansion/3 contraction/4/below churn/1/below
SELECT app_id, month, currency, opening_milliunits AS opening, new_milliunits AS new, reactivation_milliunits AS reactivation,
       expansion_milliunits AS expansion, switched_in_milliunits AS switched_in, contraction_milliunits AS contraction,
       churn_milliunits AS churn, switched_out_milliunits AS switched_out, closing_milliunits AS closing,
       closing_subscriptions AS subscriptions
  FROM mrr_movement_by_month WHERE app_id = ANY (:apps::text[]::integer[])

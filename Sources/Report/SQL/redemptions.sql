-- title: Redeemed offers
-- section: trials-and-offers
-- means: Redemptions by the month in which the offer began; every redemption counts, also a second one of a subscription.
-- note: All currencies.
-- docs: metrics.md#decisions-about-doubtful-cases
-- nothing: No offer was redeemed in this range.
-- views: offer_redemptions_by_month
-- flags: shares
-- column: month | month | Month
-- column: product_id | text | Product
-- column: storefront | text | Storefront
-- column: offer | text | Kind
-- column: offer_identifier | text | Offer
-- column: trial | count of total | Free trial
-- column: introductory | count of total | Introductory
-- column: promotional | count of total | Promotional
-- column: code | count of total | Offer code
-- column: win_back | count of total | Win-back
-- column: other | count of total | Other | total - trial - introductory - promotional - code - win_back
-- column: total | count | All
-- draw: bars trial/0 introductory/2 promotional/3 code/4 win_back/1 other/5
SELECT app_id, month, product_id, storefront, offer, coalesce(offer_identifier, 'none') AS offer_identifier,
       CASE WHEN offer = 'free trial' THEN redemptions ELSE 0 END AS trial,
       CASE WHEN offer = 'introductory' THEN redemptions ELSE 0 END AS introductory,
       CASE WHEN offer = 'promotional' THEN redemptions ELSE 0 END AS promotional,
       CASE WHEN offer = 'offer code' THEN redemptions ELSE 0 END AS code,
       CASE WHEN offer = 'win-back' THEN redemptions ELSE 0 END AS win_back, redemptions AS total
  FROM offer_redemptions_by_month WHERE app_id = ANY (:apps::text[]::integer[])

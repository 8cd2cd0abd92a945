-- How often was each offer redeemed?
--
-- Every redemption counts in the month in which it began, even if the same subscription redeems again.
-- offer_conversion_by_month counts each subscription once. Consecutive periods with the same offer are one redemption,
-- because Apple's data do not distinguish an offer of three periods from three redemptions in a row.
CREATE MATERIALIZED VIEW IF NOT EXISTS offer_redemptions_by_month AS
SELECT
    p.app_id, date_trunc('month', p.starts_at AT TIME ZONE 'UTC')::date AS month, p.product_id, p.storefront,
    CASE WHEN p.is_trial THEN 'free trial' ELSE coalesce(
        CASE p.offer_type WHEN 1 THEN 'introductory' WHEN 2 THEN 'promotional' WHEN 3 THEN 'offer code' WHEN 4 THEN 'win-back' END,
        'type ' || p.offer_type) END AS offer,
    p.offer_type, p.offer_discount_type, p.offer_identifier,
    count(*) AS redemptions
FROM (SELECT * FROM subscription_periods_at_refresh WHERE NOT is_family_shared AND (is_trial OR offer_type IS NOT NULL)) p
LEFT JOIN (SELECT app_id, next_transaction_id, is_trial, offer_type, offer_identifier, offer_discount_type
             FROM subscription_periods_at_refresh
            WHERE next_transaction_id IS NOT NULL AND (is_trial OR offer_type IS NOT NULL)) b
  ON b.app_id = p.app_id AND b.next_transaction_id = p.transaction_id
 AND (b.is_trial, b.offer_type, b.offer_identifier, b.offer_discount_type)
     IS NOT DISTINCT FROM (p.is_trial, p.offer_type, p.offer_identifier, p.offer_discount_type)
WHERE b.next_transaction_id IS NULL
GROUP BY p.app_id, date_trunc('month', p.starts_at AT TIME ZONE 'UTC')::date, p.product_id, p.storefront, p.is_trial, p.offer_type,
         p.offer_discount_type, p.offer_identifier
WITH NO DATA;
CREATE UNIQUE INDEX IF NOT EXISTS offer_redemptions_by_month_key ON offer_redemptions_by_month
    (app_id, month, product_id, storefront, offer, offer_type, offer_discount_type, offer_identifier) NULLS NOT DISTINCT;
COMMENT ON MATERIALIZED VIEW offer_redemptions_by_month IS
    'Redemptions of free trials and other offers by the month in which they began. A subscription can have several. As of the last refresh.';
COMMENT ON COLUMN offer_redemptions_by_month.month IS 'The month in which the redemption''s first period began; its first day, in UTC.';
COMMENT ON COLUMN offer_redemptions_by_month.offer IS 'The kind of offer: free trial (of any offer type), introductory, promotional, offer code, win-back.';
COMMENT ON COLUMN offer_redemptions_by_month.redemptions IS 'Redemptions of the offer. Consecutive periods with the same offer are one redemption.';

-- What does offer_redemptions_by_month show when it is computed from every record?
--
-- storeledger refresh --verify compares the two. Both have the columns of offer_redemptions_by_month.
CREATE OR REPLACE VIEW refresh_offer_redemptions_by_month_from_scratch AS
SELECT
    p.app_id, date_trunc('month', p.starts_at AT TIME ZONE 'UTC')::date AS month, p.product_id, p.storefront,
    CASE WHEN p.is_trial THEN 'free trial' ELSE coalesce(
        CASE p.offer_type WHEN 1 THEN 'introductory' WHEN 2 THEN 'promotional' WHEN 3 THEN 'offer code' WHEN 4 THEN 'win-back' END,
        'type ' || p.offer_type) END AS offer,
    p.offer_type, p.offer_discount_type, p.offer_identifier,
    count(*) AS redemptions
FROM (SELECT * FROM subscription_periods_at_refresh WHERE NOT is_family_shared AND (is_trial OR offer_type IS NOT NULL)) p
LEFT JOIN (SELECT app_id, next_transaction_id, is_trial, offer_type, offer_identifier, offer_discount_type, ends_at
             FROM subscription_periods_at_refresh
            WHERE next_transaction_id IS NOT NULL AND (is_trial OR offer_type IS NOT NULL)) b
  ON b.app_id = p.app_id AND b.next_transaction_id = p.transaction_id
 AND (b.is_trial, b.offer_type, b.offer_identifier, b.offer_discount_type)
     IS NOT DISTINCT FROM (p.is_trial, p.offer_type, p.offer_identifier, p.offer_discount_type)
 AND (b.ends_at >= p.starts_at OR p.transaction_reason = 'RENEWAL')
WHERE b.next_transaction_id IS NULL
GROUP BY p.app_id, date_trunc('month', p.starts_at AT TIME ZONE 'UTC')::date, p.product_id, p.storefront, p.is_trial, p.offer_type,
         p.offer_discount_type, p.offer_identifier;

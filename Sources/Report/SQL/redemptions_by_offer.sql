-- Redemptions of the last 24 months by offer.
SELECT product_id, offer, coalesce(offer_identifier, 'none') AS offer_identifier, sum(redemptions) AS redemptions
  FROM offer_redemptions_by_month v WHERE app_id = :app AND month >= :since_month
 GROUP BY product_id, offer, v.offer_identifier
 ORDER BY sum(redemptions) DESC, product_id, offer, v.offer_identifier

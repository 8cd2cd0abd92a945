-- What does subscription_movement_by_day show when it is computed from every record?
--
-- storeledger refresh --verify compares the two. Both have the columns of subscription_movement_by_day.
CREATE OR REPLACE VIEW refresh_subscription_movement_by_day_from_scratch AS
SELECT
    app_id, (at AT TIME ZONE 'UTC')::date AS day, product_id, storefront,
    sum(new)::bigint AS new, sum(resubscribed)::bigint AS resubscribed, sum(expired)::bigint AS expired,
    (sum(expired) - sum(resubscribed))::bigint AS churned,
    sum(switched_in)::bigint AS switched_in, sum(switched_out)::bigint AS switched_out
FROM (
    SELECT p.app_id, e.product_id, e.storefront, e.at, e.new, e.resubscribed, e.expired, e.switched_in, e.switched_out
      FROM (SELECT *, is_continued AND (next_product_id IS DISTINCT FROM product_id OR next_storefront IS DISTINCT FROM storefront)
                      AS is_switched
              FROM subscription_periods_at_refresh) p
      CROSS JOIN LATERAL (
          SELECT p.product_id, p.storefront, p.starts_at AS at, (p.payment_number = 1)::integer AS new, (p.payment_number > 1)::integer AS resubscribed,
                 0 AS expired, 0 AS switched_in, 0 AS switched_out
          UNION ALL
          -- The next period counts as a return above; a subscription that continues has not returned.
          SELECT p.next_product_id, p.next_storefront, p.ends_at, 0, -1, 0, p.is_switched::integer, 0
           WHERE p.is_continued
          UNION ALL
          SELECT p.product_id, p.storefront, p.ends_at, 0, 0, (NOT p.is_continued)::integer, 0, p.is_switched::integer
      ) e
     WHERE p.is_paid AND p.ends_at IS NOT NULL AND e.at <= now()
) event
GROUP BY app_id, (at AT TIME ZONE 'UTC')::date, product_id, storefront
HAVING sum(new) <> 0 OR sum(resubscribed) <> 0 OR sum(expired) <> 0 OR sum(switched_in) <> 0 OR sum(switched_out) <> 0;

-- What do the subscriptions that changed add to refresh_movement_totals?
CREATE OR REPLACE VIEW refresh_movement_changes AS
SELECT
    p.app_id, (e.at AT TIME ZONE 'UTC')::date AS day, e.product_id, e.storefront,
    sum(p.sign * e.new) AS new, sum(p.sign * e.resubscribed) AS resubscribed, sum(p.sign * e.expired) AS expired,
    sum(p.sign * e.switched_in) AS switched_in, sum(p.sign * e.switched_out) AS switched_out
FROM (SELECT *, is_continued AND (next_product_id IS DISTINCT FROM product_id OR next_storefront IS DISTINCT FROM storefront)
                AS is_switched
        FROM refresh_changed_periods) p
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
WHERE p.is_paid AND p.ends_at IS NOT NULL AND e.at <= p.as_of
GROUP BY p.app_id, (e.at AT TIME ZONE 'UTC')::date, e.product_id, e.storefront;

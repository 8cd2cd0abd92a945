-- What does product_prices show when it is computed from every record?
--
-- storeledger refresh --verify compares the two. Both have the columns of product_prices.
CREATE OR REPLACE VIEW refresh_product_prices_from_scratch AS
SELECT
    app_id, product_id, storefront, currency, price_milliunits,
    first_sold_at, last_sold_at, last_new_sale_at, purchases, renewals,
    lag(price_milliunits) OVER by_age AS price_before_milliunits,
    price_milliunits * 0.001 AS price_amount, lag(price_milliunits) OVER by_age * 0.001 AS price_before_amount
FROM (
    SELECT
        app_id, product_id, storefront, currency, price_milliunits / CASE WHEN type = 'Auto-Renewable Subscription' THEN 1 ELSE greatest(quantity, 1) END AS price_milliunits,
        min(purchase_date) AS first_sold_at, max(purchase_date) AS last_sold_at,
        min(purchase_date) FILTER (WHERE transaction_reason IS DISTINCT FROM 'RENEWAL') AS first_new_sale_at,
        max(purchase_date) FILTER (WHERE transaction_reason IS DISTINCT FROM 'RENEWAL') AS last_new_sale_at,
        count(*) FILTER (WHERE transaction_reason IS DISTINCT FROM 'RENEWAL') AS purchases,
        count(*) FILTER (WHERE transaction_reason = 'RENEWAL') AS renewals
    FROM refresh_purchase_records
    WHERE offer_type IS NULL AND offer_discount_type IS NULL AND price_milliunits IS NOT NULL
      AND NOT CASE WHEN advanced_commerce_request_reference_id IS NOT NULL THEN payload @? '$.advancedCommerceInfo.items[*].offer' ELSE false END
      AND in_app_ownership_type IS DISTINCT FROM 'FAMILY_SHARED' AND in_app_ownership_type IS DISTINCT FROM 'ASSIGNED'
    GROUP BY app_id, product_id, storefront, currency, price_milliunits / CASE WHEN type = 'Auto-Renewable Subscription' THEN 1 ELSE greatest(quantity, 1) END
) price
WINDOW by_age AS (PARTITION BY app_id, product_id, storefront, currency
                  ORDER BY first_new_sale_at NULLS FIRST, first_sold_at, price_milliunits);

-- At which prices was each product sold in each storefront, and when did a price change?
--
-- The price of one unit without an offer, as transactions show it: a price nobody paid is unknown. When a price was raised,
-- existing subscribers may keep the old one, which shows as renewals after last_sold_at of new purchases.
CREATE MATERIALIZED VIEW IF NOT EXISTS product_prices AS
SELECT
    app_id, product_id, storefront, currency, price_milliunits,
    first_sold_at, last_sold_at, last_new_sale_at, purchases, renewals,
    lag(price_milliunits) OVER by_age AS price_before_milliunits,
    price_milliunits * 0.001 AS price_amount, lag(price_milliunits) OVER by_age * 0.001 AS price_before_amount
FROM (
    SELECT
        app_id, product_id, storefront, currency, price_milliunits / greatest(quantity, 1) AS price_milliunits,
        min(purchase_date) AS first_sold_at, max(purchase_date) AS last_sold_at,
        min(purchase_date) FILTER (WHERE transaction_reason IS DISTINCT FROM 'RENEWAL') AS first_new_sale_at,
        max(purchase_date) FILTER (WHERE transaction_reason IS DISTINCT FROM 'RENEWAL') AS last_new_sale_at,
        count(*) FILTER (WHERE transaction_reason IS DISTINCT FROM 'RENEWAL') AS purchases,
        count(*) FILTER (WHERE transaction_reason = 'RENEWAL') AS renewals
    FROM transactions
    WHERE offer_type IS NULL AND offer_discount_type IS NULL AND price_milliunits IS NOT NULL
      AND in_app_ownership_type IS DISTINCT FROM 'FAMILY_SHARED' AND in_app_ownership_type IS DISTINCT FROM 'ASSIGNED'
    GROUP BY app_id, product_id, storefront, currency, price_milliunits / greatest(quantity, 1)
) price
WINDOW by_age AS (PARTITION BY app_id, product_id, storefront, currency
                  ORDER BY first_new_sale_at NULLS FIRST, first_sold_at, price_milliunits)
WITH NO DATA;
CREATE UNIQUE INDEX IF NOT EXISTS product_prices_key
    ON product_prices (app_id, product_id, storefront, currency, price_milliunits) NULLS NOT DISTINCT;
COMMENT ON MATERIALIZED VIEW product_prices IS
    'Every price that a product was sold at without an offer, and since when; gross. With Advanced Commerce a product has as many prices as the app asks for.';
COMMENT ON COLUMN product_prices.price_milliunits IS 'The price of one, in thousandths of a unit of currency.';
COMMENT ON COLUMN product_prices.first_sold_at IS 'The first sale or renewal at the price.';
COMMENT ON COLUMN product_prices.last_sold_at IS 'The last sale or renewal at the price.';
COMMENT ON COLUMN product_prices.last_new_sale_at IS 'The last sale at the price that was no renewal; NULL when only renewals were seen.';
COMMENT ON COLUMN product_prices.purchases IS 'Sales at the price that are no renewals.';
COMMENT ON COLUMN product_prices.renewals IS 'Renewals at the price.';
COMMENT ON COLUMN product_prices.price_before_milliunits IS 'The price that new purchases had before; NULL for the first one seen.';

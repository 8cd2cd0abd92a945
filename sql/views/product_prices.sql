-- At which prices was each product sold in each storefront, and when did a price change?
--
-- The price is for one unit without an offer, from transactions; a purchase in which an Advanced Commerce item has an offer does not count.
-- Apple's price of several units of a consumable is their sum. Apple's price of several seats of a subscription is already the average
-- price of a seat. A price at which nothing was sold is unknown. After a
-- price increase, existing subscribers may keep the old price. Their renewals continue after last_new_sale_at.
--
-- One row for each app_id, product_id, storefront, currency, price_milliunits.
-- Readers: loader, exporter, actor, analyst.

-- list_price_milliunits is NULL for sales with an offer. Removing a sale does not narrow the range from first_sold_at to
-- last_sold_at here; renew_first_and_last() does.
-- One row for each app_id, product_id, type, storefront, currency, list_price_milliunits, is_renewal.
CREATE OR REPLACE VIEW refresh_sale_changes AS
SELECT
    app_id, product_id, type, storefront, currency, list_price_milliunits, is_renewal,
    sum(sign) AS sales,
    min(purchase_date) FILTER (WHERE sign = 1) AS first_sold_at,
    max(purchase_date) FILTER (WHERE sign = 1) AS last_sold_at
FROM refresh_changed_transactions
WHERE is_purchase
GROUP BY app_id, product_id, type, storefront, currency, list_price_milliunits, is_renewal;

CREATE OR REPLACE VIEW product_prices AS
SELECT
    app_id, product_id, storefront, currency, price_milliunits,
    first_sold_at, last_sold_at, last_new_sale_at, purchases, renewals,
    lag(price_milliunits) OVER by_age AS price_before_milliunits,
    price_milliunits * 0.001 AS price_amount, lag(price_milliunits) OVER by_age * 0.001 AS price_before_amount
FROM (
    SELECT app_id, product_id, storefront, currency, list_price_milliunits AS price_milliunits,
           min(first_sold_at) AS first_sold_at, max(last_sold_at) AS last_sold_at,
           min(first_sold_at) FILTER (WHERE NOT is_renewal) AS first_new_sale_at,
           max(last_sold_at) FILTER (WHERE NOT is_renewal) AS last_new_sale_at,
           coalesce(sum(sales) FILTER (WHERE NOT is_renewal), 0)::bigint AS purchases,
           coalesce(sum(sales) FILTER (WHERE is_renewal), 0)::bigint AS renewals
      FROM refresh_sale_totals
     WHERE list_price_milliunits IS NOT NULL
     GROUP BY app_id, product_id, storefront, currency, list_price_milliunits
) price
WINDOW by_age AS (PARTITION BY app_id, product_id, storefront, currency
                  ORDER BY first_new_sale_at NULLS FIRST, first_sold_at, price_milliunits);
COMMENT ON VIEW product_prices IS
    'Every price at which a product was sold without an offer, and its first and last sale; before Apple''s commission and tax. With Advanced Commerce, the app sets the price, so a product can have many.';
COMMENT ON COLUMN product_prices.price_milliunits IS 'The price of one unit of the product, in thousandths of a unit of currency.';
COMMENT ON COLUMN product_prices.first_sold_at IS 'The first sale or renewal at the price.';
COMMENT ON COLUMN product_prices.last_sold_at IS 'The last sale or renewal at the price.';
COMMENT ON COLUMN product_prices.last_new_sale_at IS 'The last sale at the price that was not a renewal. NULL if every sale was a renewal.';
COMMENT ON COLUMN product_prices.purchases IS 'Sales at the price, without renewals.';
COMMENT ON COLUMN product_prices.renewals IS 'Renewals at the price.';
COMMENT ON COLUMN product_prices.price_before_milliunits IS 'The previous price of new purchases, in thousandths of a unit of currency. NULL for the first price.';

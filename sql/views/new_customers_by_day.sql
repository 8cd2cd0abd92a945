-- How many customers made their first purchase on each day, and how many of them paid for it?
--
-- The definition is RevenueCat's new customers, with the first purchase in place of the first launch of the app, because Apple's data
-- contain only customers with a transaction. The day, product and storefront are from the first purchase: the earliest purchaseDate, then
-- the smallest transaction ID. A free trial is a purchase, and a refunded purchase stays one. Members of a family or group purchase nothing.
--
-- One row for each app_id, day, product_id, storefront.
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW refresh_new_customer_changes AS
SELECT
    app_id, (purchase_date AT TIME ZONE 'UTC')::date AS day, product_id, storefront,
    sum(sign) AS customers,
    sum(sign) FILTER (WHERE is_paid) AS paying_customers
FROM (
    SELECT DISTINCT ON (sign, app_id, customer_key) sign, app_id, purchase_date, product_id, storefront, is_paid
      FROM refresh_changed_customer_purchases
     WHERE purchase_date IS NOT NULL
     ORDER BY sign, app_id, customer_key, purchase_date, transaction_id
) first
GROUP BY app_id, (purchase_date AT TIME ZONE 'UTC')::date, product_id, storefront;

CREATE OR REPLACE VIEW new_customers_by_day AS
SELECT app_id, day, product_id, storefront, customers, paying_customers FROM refresh_new_customer_totals;
COMMENT ON VIEW new_customers_by_day IS
    'Customers by the day, product and storefront of their first purchase. Days without a new customer have no row. See customer_key in purchases for how customers are identified. As of the last refresh.';
COMMENT ON COLUMN new_customers_by_day.day IS 'The day of the first purchase, in UTC.';
COMMENT ON COLUMN new_customers_by_day.product_id IS 'The product of the first purchase.';
COMMENT ON COLUMN new_customers_by_day.customers IS 'Customers whose first purchase was on the day, paid or free.';
COMMENT ON COLUMN new_customers_by_day.paying_customers IS 'Customers who paid for this first purchase. A later refund changes nothing.';

-- Which purchases of customers with a changed purchase are counted so far, and which replace them?
--
-- As refresh_changed_transactions, with purchases that are the same on both sides: the customers' others, because totals per
-- customer need all of them, and refunds of the changed subscriptions.
CREATE OR REPLACE VIEW refresh_changed_customer_purchases AS
SELECT * FROM refresh_changed_transactions WHERE is_purchase
UNION ALL
SELECT side.sign, o.* FROM refresh_transactions_beside o CROSS JOIN (VALUES (-1), (1)) side (sign);

-- Which purchases of customers with a changed purchase are counted so far, and which replace them?
--
-- As refresh_changed_transactions, with purchases that are the same on both sides: the customers' others, because totals per
-- customer need all of them, and refunds of the changed subscriptions.
CREATE OR REPLACE VIEW refresh_changed_customer_purchases AS
SELECT * FROM refresh_transactions_changed WHERE is_purchase;

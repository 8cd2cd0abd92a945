-- Which Advanced Commerce items does each customer pay for now?
--
-- One row for each app_id, original_transaction_id, position. The items are from the last period of a subscription that is active or
-- in a grace period, by current_subscriptions. Items that were revoked alone are left out, and so are members of a family or
-- group, who pay nothing.
--
-- next_price_milliunits is from the newest renewal info, if Apple signed it after the period began: the price of an increase that is
-- ACCEPTED, else the price of the item's offer, else its price; NULL if the item does not renew. An increase that is SCHEDULED or PENDING is
-- not in it, but in pending_price_changes.
--
-- The view asks current_subscriptions for one subscription at a time, and only for those that have items and whose last
-- transaction did not end 60 days ago, because the state of all subscriptions would take longer. Without OFFSET 0
-- the planner would join the state of all.
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW current_advanced_commerce_items AS
SELECT
    s.app_id, s.original_transaction_id, c.transaction_id, i.position, i.sku, i.display_name, i.description,
    c.product_id, c.status, c.starts_at, c.ends_at, c.storefront, t.advanced_commerce_period AS period,
    i.price_milliunits, i.offer_price_milliunits, i.offer_period, i.offer_period_count, i.offer_reason,
    coalesce(i.offer_price_milliunits, i.price_milliunits) AS paid_milliunits, i.currency,
    c.will_renew, CASE WHEN c.will_renew THEN upcoming.price_milliunits END AS next_price_milliunits,
    i.price_milliunits * 0.001 AS price_amount, i.offer_price_milliunits * 0.001 AS offer_price_amount,
    coalesce(i.offer_price_milliunits, i.price_milliunits) * 0.001 AS paid_amount,
    CASE WHEN c.will_renew THEN upcoming.price_milliunits * 0.001 END AS next_price_amount,
    c.customer_key
FROM (
    SELECT DISTINCT sold.app_id, sold.original_transaction_id
      FROM transactions sold
     WHERE sold.expires_date > now() - interval '1440 hours' AND sold.type = 'Auto-Renewable Subscription'
       AND EXISTS (SELECT FROM advanced_commerce_items i
                    WHERE i.app_id = sold.app_id AND i.owner_kind = 'transaction' AND i.owner_key = sold.transaction_id)
) s
CROSS JOIN LATERAL (
    SELECT * FROM current_subscriptions c
     WHERE c.app_id = s.app_id AND c.original_transaction_id = s.original_transaction_id
       AND c.status IN ('active', 'grace period') AND NOT c.is_family_shared
    OFFSET 0
) c
JOIN transactions t ON t.app_id = s.app_id AND t.transaction_id = c.transaction_id
JOIN advanced_commerce_items i ON i.app_id = s.app_id AND i.owner_kind = 'transaction' AND i.owner_key = c.transaction_id
                              AND i.revocation_date IS NULL
LEFT JOIN LATERAL (
    SELECT coalesce(CASE WHEN n.price_increase_status = 'ACCEPTED' THEN n.price_increase_price_milliunits END,
                    n.offer_price_milliunits, n.price_milliunits) AS price_milliunits
      FROM renewals_signed r
      JOIN advanced_commerce_items n ON n.app_id = r.app_id AND n.owner_kind = 'renewal' AND n.owner_key = r.original_transaction_id
     WHERE r.app_id = s.app_id AND r.original_transaction_id = s.original_transaction_id
       AND r.last_signed_date >= c.starts_at AND n.sku = i.sku
     ORDER BY n.position LIMIT 1
) upcoming ON true;
COMMENT ON VIEW current_advanced_commerce_items IS
    'The items of each Advanced Commerce subscription that is active or in a grace period, and what the customer pays for each in this period and the next. The app sets the prices of an item; what the items of a transaction are paid adds up to its price.';
COMMENT ON COLUMN current_advanced_commerce_items.transaction_id IS 'The transaction of the last period.';
COMMENT ON COLUMN current_advanced_commerce_items.position IS 'Index of the item in Apple''s list, from 0.';
COMMENT ON COLUMN current_advanced_commerce_items.sku IS 'Apple''s SKU of the item.';
COMMENT ON COLUMN current_advanced_commerce_items.display_name IS 'Apple''s displayName of the item, which the customer sees.';
COMMENT ON COLUMN current_advanced_commerce_items.description IS 'Apple''s description of the item, which the customer does not see.';
COMMENT ON COLUMN current_advanced_commerce_items.product_id IS 'The generic product under which the items are sold.';
COMMENT ON COLUMN current_advanced_commerce_items.status IS 'active or grace period, as in current_subscriptions.';
COMMENT ON COLUMN current_advanced_commerce_items.starts_at IS 'When the last period began.';
COMMENT ON COLUMN current_advanced_commerce_items.ends_at IS 'When the last period ends, including a grace period.';
COMMENT ON COLUMN current_advanced_commerce_items.period IS 'Apple''s period of the subscription: an ISO 8601 duration.';
COMMENT ON COLUMN current_advanced_commerce_items.price_milliunits IS 'Apple''s price of the item without its offer, in thousandths of a unit of currency.';
COMMENT ON COLUMN current_advanced_commerce_items.offer_price_milliunits IS 'Apple''s price of the item''s offer in thousandths of a unit of currency; NULL without an offer.';
COMMENT ON COLUMN current_advanced_commerce_items.offer_period IS 'Apple''s period of the item''s offer: an ISO 8601 duration.';
COMMENT ON COLUMN current_advanced_commerce_items.offer_period_count IS 'Apple''s periodCount: the number of periods that the offer lasts.';
COMMENT ON COLUMN current_advanced_commerce_items.offer_reason IS 'Apple''s reason for the offer: ACQUISITION, WIN_BACK or RETENTION.';
COMMENT ON COLUMN current_advanced_commerce_items.paid_milliunits IS 'What the customer paid for the item in this period, in thousandths of a unit of currency: the price of its offer if it has one, otherwise price_milliunits. As paid_milliunits of advanced_commerce_lines.';
COMMENT ON COLUMN current_advanced_commerce_items.will_renew IS 'Apple''s autoRenewStatus of the subscription: whether auto-renewal is on. NULL without renewal info of this period.';
COMMENT ON COLUMN current_advanced_commerce_items.next_price_milliunits IS 'The price of the item in the next period, in thousandths of a unit of currency: the price of an increase that is ACCEPTED, else the price of the offer in the renewal info, else the item''s price. An increase that is SCHEDULED or PENDING is not in it; see pending_price_changes. NULL if the subscription or the item does not renew, or if there is no renewal info of this period.';
COMMENT ON COLUMN current_advanced_commerce_items.customer_key IS 'Identifies the customer, as in purchases.';

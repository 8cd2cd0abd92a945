-- Which price changes of Advanced Commerce items are pending?
--
-- One row for each app_id, original_transaction_id, position. Such an item has another price from the next renewal on. Apple reports
-- an increase as priceIncreaseInfo of the item, with the customer's consent, and a decrease only as another price of the item. So the
-- price in the newest renewal info is compared with that in the last transaction, by SKU and without offers.
--
-- Only a renewalDate in the future counts: a change whose renewal is past has happened, or the subscription has ended.
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW pending_price_changes AS
SELECT
    r.app_id, r.original_transaction_id, i.position, i.sku, i.display_name, r.product_id,
    CASE WHEN change.new_milliunits > change.old_milliunits THEN 'increase'
         WHEN change.new_milliunits < change.old_milliunits THEN 'decrease'
         WHEN i.price_increase_status IS NOT NULL THEN 'increase' END AS direction,
    i.price_increase_status AS consent, i.price_increase_dependent_skus AS dependent_skus,
    change.old_milliunits AS old_price_milliunits, change.new_milliunits AS new_price_milliunits, r.currency,
    r.renewal_date, r.auto_renew_status = 1 AS will_renew, r.signed_date,
    change.old_milliunits * 0.001 AS old_price_amount, change.new_milliunits * 0.001 AS new_price_amount,
    coalesce(paid.customer_key, r.app_transaction_id, r.original_transaction_id) AS customer_key
FROM renewals r
JOIN advanced_commerce_items i ON i.app_id = r.app_id AND i.owner_kind = 'renewal' AND i.owner_key = r.original_transaction_id
LEFT JOIN LATERAL (
    SELECT t.transaction_id, t.customer_key
      FROM refresh_purchase_records t
     WHERE t.app_id = r.app_id AND t.original_transaction_id = r.original_transaction_id AND t.purchase_date IS NOT NULL
     ORDER BY t.purchase_date DESC, t.expires_date DESC, t.transaction_id DESC LIMIT 1
) paid ON true
LEFT JOIN LATERAL (
    SELECT p.price_milliunits
      FROM advanced_commerce_items p
     WHERE p.app_id = r.app_id AND p.owner_kind = 'transaction' AND p.owner_key = paid.transaction_id AND p.sku = i.sku
     ORDER BY p.position LIMIT 1
) earlier ON true
CROSS JOIN LATERAL (
    SELECT coalesce(earlier.price_milliunits, i.price_milliunits) AS old_milliunits,
           coalesce(i.price_increase_price_milliunits, i.price_milliunits) AS new_milliunits
) change
WHERE r.renewal_date > now() AND (i.price_increase_status IS NOT NULL OR change.new_milliunits <> change.old_milliunits);
COMMENT ON VIEW pending_price_changes IS
    'Items of Advanced Commerce subscriptions whose price changes at the next renewal, from Apple''s newest renewal info. Renewal info comes with notifications and with Get All Subscription Statuses, so changes after signed_date are not shown.';
COMMENT ON COLUMN pending_price_changes.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN pending_price_changes.original_transaction_id IS 'Apple''s originalTransactionId: identifies the subscription.';
COMMENT ON COLUMN pending_price_changes.position IS 'Index of the item in the renewal info, from 0.';
COMMENT ON COLUMN pending_price_changes.sku IS 'Apple''s SKU of the item.';
COMMENT ON COLUMN pending_price_changes.display_name IS 'Apple''s displayName of the item, which the customer sees.';
COMMENT ON COLUMN pending_price_changes.product_id IS 'The generic product under which the item is sold.';
COMMENT ON COLUMN pending_price_changes.direction IS 'increase or decrease. NULL if Apple sends no price.';
COMMENT ON COLUMN pending_price_changes.consent IS 'Apple''s status of the increase: SCHEDULED (not communicated yet), PENDING (the customer has not answered) or ACCEPTED (the customer consented, or consent is not required). NULL for a decrease.';
COMMENT ON COLUMN pending_price_changes.dependent_skus IS 'Apple''s dependentSKUs: items that end if the customer does not consent. NULL if there are none.';
COMMENT ON COLUMN pending_price_changes.old_price_milliunits IS 'The price of the item in the last period, without its offer, in thousandths of a unit of currency.';
COMMENT ON COLUMN pending_price_changes.new_price_milliunits IS 'The price of the item from the renewal on, without its offer, in thousandths of a unit of currency.';
COMMENT ON COLUMN pending_price_changes.renewal_date IS 'Apple''s renewalDate: when the new price takes effect.';
COMMENT ON COLUMN pending_price_changes.will_renew IS 'Whether auto-renewal is on; without it the change never takes effect. NULL if Apple sends no autoRenewStatus.';
COMMENT ON COLUMN pending_price_changes.signed_date IS 'When Apple signed this renewal info. Later changes are unknown.';
COMMENT ON COLUMN pending_price_changes.customer_key IS 'Identifies the customer, as customer_key of purchases does: appTransactionId; else listed_transaction_id, the ID for which a job requested the history; else the original transaction ID.';

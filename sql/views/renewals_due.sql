-- Which subscriptions renew next, at what price, and which will not renew?
--
-- For several seats, Apple's renewalPrice is the average price of a seat. The price here covers all seats, as in
-- seat_purchases.
--
-- Get All Subscription Statuses also has a status of the subscription. If it is expired (2) or revoked (5), and its records were not signed before
-- the renewal info, it overrides the renewal info: will_renew is false, and apple_status and known_from say why. The row stays, because Apple
-- does not sign the status.
--
-- A family member, or a member of a group or organization, has a separate subscription with separate renewal info, and
-- pays nothing: the purchaser's subscription renews and is charged. So a subscription is left out if the ledger has only
-- FAMILY_SHARED or ASSIGNED transactions of it; purchases leaves these out, too. inAppOwnershipType is in the transactions,
-- not in the renewal info. A subscription without a transaction in the ledger stays. For this test, any
-- transaction of the customer's own is enough; finding the newest would read all of them.
--
-- price_change compares the price of the renewal with the price of the last own transaction, as purchases does. Both columns about the last
-- transaction are sub-queries, so a query without them reads no further transaction. Apple does not document whether renewalPrice has an
-- increase to which the customer has not consented yet: "reflects the discount" is all it says, of offers (renewalPrice, read 2026-11).
--
-- Only a renewalDate in the future counts. Most subscriptions in billing retry or in a grace period have a renewalDate in the past,
-- so they are not here; current_subscriptions has them.
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW renewals_due AS
SELECT
    r.app_id, r.original_transaction_id, r.renewal_date, r.renewal_date - now() AS due_in,
    CASE WHEN s.status IS NOT NULL THEN false ELSE r.auto_renew_status = 1 END AS will_renew,
    r.product_id, coalesce(r.auto_renew_product_id, r.product_id) AS renews_as,
    due.renewal_price_milliunits, r.currency,
    r.offer_type, r.offer_identifier, r.offer_discount_type,
    coalesce(r.is_in_billing_retry_period, false) AS is_in_billing_retry,
    r.grace_period_expires_date, r.price_increase_status, r.renewal_billing_plan_type,
    r.commitment_renewal_date, r.signed_date, due.renewal_price_milliunits * 0.001 AS renewal_price_amount,
    (ARRAY['expired', 'revoked'])[CASE s.status WHEN 2 THEN 1 WHEN 5 THEN 2 END] AS apple_status,
    CASE WHEN s.status IS NOT NULL THEN 'status of Get All Subscription Statuses'
         ELSE 'autoRenewStatus of the renewal info' END AS known_from,
    coalesce(own.customer_key, r.app_transaction_id, r.original_transaction_id) AS customer_key,
    (SELECT coalesce(seats.price_milliunits, t.price_milliunits)
       FROM transactions t
         LEFT JOIN seat_purchases seats ON seats.app_id = t.app_id AND seats.original_transaction_id = t.original_transaction_id
                                       AND seats.transaction_id = t.transaction_id
        WHERE t.app_id = r.app_id AND t.original_transaction_id = r.original_transaction_id AND t.purchase_date IS NOT NULL
          AND t.in_app_ownership_type IS DISTINCT FROM 'FAMILY_SHARED' AND t.in_app_ownership_type IS DISTINCT FROM 'ASSIGNED'
        ORDER BY t.purchase_date DESC, t.expires_date DESC, t.transaction_id DESC LIMIT 1) AS last_price_milliunits,
    (SELECT coalesce(seats.price_milliunits, t.price_milliunits) * 0.001
       FROM transactions t
         LEFT JOIN seat_purchases seats ON seats.app_id = t.app_id AND seats.original_transaction_id = t.original_transaction_id
                                       AND seats.transaction_id = t.transaction_id
        WHERE t.app_id = r.app_id AND t.original_transaction_id = r.original_transaction_id AND t.purchase_date IS NOT NULL
          AND t.in_app_ownership_type IS DISTINCT FROM 'FAMILY_SHARED' AND t.in_app_ownership_type IS DISTINCT FROM 'ASSIGNED'
        ORDER BY t.purchase_date DESC, t.expires_date DESC, t.transaction_id DESC LIMIT 1) AS last_price_amount,
    (SELECT CASE
         WHEN t.currency <> r.currency THEN 'currency'
         WHEN coalesce(seats.price_milliunits, t.price_milliunits) = due.renewal_price_milliunits THEN NULL
         WHEN coalesce(seats.price_milliunits, t.price_milliunits, due.renewal_price_milliunits) IS NULL THEN NULL
         WHEN r.auto_renew_product_id <> t.product_id THEN 'product'
         WHEN next.has_offer AND now.has_offer THEN 'offer'
         WHEN next.has_offer THEN 'offer begins'
         WHEN now.has_offer THEN 'offer ends'
         WHEN coalesce(r.renewal_quantity, t.quantity, 1) <> coalesce(t.quantity, 1) THEN 'seats'
         WHEN coalesce(seats.price_milliunits, t.price_milliunits) < due.renewal_price_milliunits THEN 'increase'
         WHEN coalesce(seats.price_milliunits, t.price_milliunits) > due.renewal_price_milliunits THEN 'decrease' END
       FROM transactions t
         LEFT JOIN seat_purchases seats ON seats.app_id = t.app_id AND seats.original_transaction_id = t.original_transaction_id
                                       AND seats.transaction_id = t.transaction_id
         CROSS JOIN LATERAL (
             SELECT t.offer_type IS NOT NULL OR t.offer_discount_type IS NOT NULL
                    OR CASE WHEN t.advanced_commerce_request_reference_id IS NOT NULL
                            THEN t.payload @? '$.advancedCommerceInfo.items[*].offer' ELSE false END AS has_offer
         ) now
         CROSS JOIN LATERAL (
             SELECT r.offer_type IS NOT NULL OR r.offer_discount_type IS NOT NULL
                    OR CASE WHEN r.advanced_commerce_request_reference_id IS NOT NULL
                            THEN r.payload @? '$.advancedCommerceInfo.items[*].offer' ELSE false END AS has_offer
         ) next
        WHERE t.app_id = r.app_id AND t.original_transaction_id = r.original_transaction_id AND t.purchase_date IS NOT NULL
          AND t.in_app_ownership_type IS DISTINCT FROM 'FAMILY_SHARED' AND t.in_app_ownership_type IS DISTINCT FROM 'ASSIGNED'
        ORDER BY t.purchase_date DESC, t.expires_date DESC, t.transaction_id DESC LIMIT 1) AS price_change
FROM renewals r
CROSS JOIN LATERAL (
    SELECT CASE WHEN r.renewal_quantity > 1 AND r.renewal_price_milliunits > 0 THEN coalesce(
        (SELECT CASE WHEN sum((tier -> 'quantity')::numeric) = r.renewal_quantity
                     THEN sum((tier -> 'price')::numeric * (tier -> 'quantity')::numeric)::bigint END
           FROM jsonb_path_query(r.payload, '$.multiSeatInfo.renewalPriceTiers[*] ? (@.price >= 0 && @.price <= 1000000000000
                                             && @.quantity >= 1 && @.quantity <= 1000000)') AS tier),
        r.renewal_price_milliunits * r.renewal_quantity
    ) ELSE r.renewal_price_milliunits END AS renewal_price_milliunits
) due
LEFT JOIN LATERAL (
    SELECT s.status FROM subscription_statuses s
      JOIN renewals_signed last ON last.app_id = s.app_id AND last.original_transaction_id = s.original_transaction_id
     WHERE s.app_id = r.app_id AND s.original_transaction_id = r.original_transaction_id AND s.status IN (2, 5)
       AND s.ended_at IS NULL AND coalesce(s.records_signed_date, s.asked_at) >= last.last_signed_date
) s ON true
LEFT JOIN LATERAL (
    SELECT t.transaction_id, t.customer_key
      FROM refresh_purchase_records t
     WHERE t.app_id = r.app_id AND t.original_transaction_id = r.original_transaction_id
       AND t.in_app_ownership_type IS DISTINCT FROM 'FAMILY_SHARED' AND t.in_app_ownership_type IS DISTINCT FROM 'ASSIGNED'
     LIMIT 1
) own ON true
LEFT JOIN LATERAL (
    SELECT t.transaction_id FROM transactions t
     WHERE own.transaction_id IS NULL AND t.app_id = r.app_id AND t.original_transaction_id = r.original_transaction_id
     LIMIT 1
) member ON true
WHERE r.renewal_date > now() AND member.transaction_id IS NULL;
COMMENT ON VIEW renewals_due IS
    'Upcoming renewals, from Apple''s newest renewal info. Renewal info comes with notifications and with Get All Subscription Statuses, so a subscription without both is missing, and changes after signed_date are not shown. apple_status marks subscriptions that a newer status of Apple calls expired or revoked; they do not renew. Members (FAMILY_SHARED, ASSIGNED), who pay nothing, are left out. So are subscriptions whose renewal_date is past. Most subscriptions in billing retry or in a grace period are among these: see current_subscriptions.';
COMMENT ON COLUMN renewals_due.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN renewals_due.original_transaction_id IS 'Apple''s originalTransactionId: identifies the subscription.';
COMMENT ON COLUMN renewals_due.renewal_date IS 'Apple''s renewalDate: when the subscription renews or, with auto-renewal off, expires.';
COMMENT ON COLUMN renewals_due.due_in IS 'Time from now to renewal_date.';
COMMENT ON COLUMN renewals_due.will_renew IS 'Whether auto-renewal is on; false if a newer status of Apple calls the subscription expired or revoked. NULL if Apple sends no autoRenewStatus.';
COMMENT ON COLUMN renewals_due.product_id IS 'The product of the current period.';
COMMENT ON COLUMN renewals_due.renews_as IS 'The product that renews next.';
COMMENT ON COLUMN renewals_due.renewal_price_milliunits IS 'The price of the renewal, after offers, in thousandths of a unit of currency: Apple''s renewalPrice or, for several seats, the price of all seats. Apple does not document whether it has a price increase to which the customer has not consented: price_increase_status says whether one waits, pending_price_changes has the new price of an Advanced Commerce item.';
COMMENT ON COLUMN renewals_due.offer_type IS 'Apple''s offerType of the next period: 1 introductory, 2 promotional, 3 offer code, 4 win-back.';
COMMENT ON COLUMN renewals_due.offer_identifier IS 'Apple''s offerIdentifier of the next period.';
COMMENT ON COLUMN renewals_due.is_in_billing_retry IS 'Whether Apple is still trying to charge the customer: isInBillingRetryPeriod (is_in_billing_retry_period in masked_renewals). Rare here, because renewal_date is then usually past.';
COMMENT ON COLUMN renewals_due.grace_period_expires_date IS 'Apple''s gracePeriodExpiresDate: the end of the billing grace period. Access continues until then although billing fails.';
COMMENT ON COLUMN renewals_due.price_increase_status IS 'Apple''s priceIncreaseStatus: 0 no response yet, 1 the customer consented, or was notified where no consent is required.';
COMMENT ON COLUMN renewals_due.renewal_billing_plan_type IS 'Apple''s renewalBillingPlanType: BILLED_UPFRONT or MONTHLY.';
COMMENT ON COLUMN renewals_due.commitment_renewal_date IS 'Apple''s commitmentRenewalDate: when the commitment renews.';
COMMENT ON COLUMN renewals_due.signed_date IS 'When Apple signed this renewal info. Later changes are unknown.';
COMMENT ON COLUMN renewals_due.apple_status IS 'expired or revoked, if Apple''s own status says so and is not older than the renewal info. Apple does not sign it. NULL otherwise.';
COMMENT ON COLUMN renewals_due.known_from IS 'What determines will_renew: "status of Get All Subscription Statuses" where apple_status has a value; otherwise "autoRenewStatus of the renewal info".';
COMMENT ON COLUMN renewals_due.customer_key IS 'Identifies the customer, as customer_key of purchases does: appTransactionId; else listed_transaction_id, the ID for which a job requested the history; else the original transaction ID.';
COMMENT ON COLUMN renewals_due.last_price_milliunits IS
    'What the customer paid for the last period, in thousandths of a unit of its currency: Apple''s price or, for several seats, the price of all seats. NULL without a transaction or a price.';
COMMENT ON COLUMN renewals_due.price_change IS
    'Why the renewal has another price than the last period, the first of these that is true: currency, product, offer (both have one), offer begins, offer ends, seats, increase, decrease. NULL if the price is the same or both are unknown. If only one is known, never increase or decrease.';

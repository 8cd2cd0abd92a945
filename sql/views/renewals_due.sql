-- Which subscriptions renew next, at what price, and which will not renew?
--
-- For several seats, Apple's renewalPrice is the average price of a seat. The price here is that of all seats, as in
-- seat_purchases.
--
-- If Apple's own status, answered after the renewal info was signed, is expired (2) or revoked (5), the subscription has no
-- renewal to come. One minute is allowed for the clocks of Apple and the database, as in current_subscriptions.
CREATE OR REPLACE VIEW renewals_due AS
SELECT
    r.app_id, r.original_transaction_id, r.renewal_date, r.renewal_date - now() AS due_in,
    r.auto_renew_status = 1 AS will_renew,
    r.product_id, coalesce(r.auto_renew_product_id, r.product_id) AS renews_as,
    due.renewal_price_milliunits, r.currency,
    r.offer_type, r.offer_identifier, r.offer_discount_type,
    coalesce(r.is_in_billing_retry_period, false) AS is_in_billing_retry,
    r.grace_period_expires_date, r.price_increase_status, r.renewal_billing_plan_type,
    r.commitment_renewal_date, r.signed_date, due.renewal_price_milliunits * 0.001 AS renewal_price_amount
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
WHERE r.renewal_date > now()
  AND NOT EXISTS (SELECT FROM subscription_statuses s
                    JOIN renewals_signed last ON last.app_id = s.app_id AND last.original_transaction_id = s.original_transaction_id
                   WHERE s.app_id = r.app_id AND s.original_transaction_id = r.original_transaction_id AND s.status IN (2, 5)
                     AND s.asked_at + interval '1 minute' >= last.last_signed_date);
COMMENT ON VIEW renewals_due IS
    'Upcoming renewals, from Apple''s newest renewal info. Renewal info comes with notifications and with Get All Subscription Statuses, so a subscription without both is missing, and changes after signed_date are not shown. Subscriptions that a newer status of Apple calls expired or revoked are excluded.';
COMMENT ON COLUMN renewals_due.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN renewals_due.original_transaction_id IS 'Apple''s originalTransactionId: identifies the subscription.';
COMMENT ON COLUMN renewals_due.renewal_date IS 'Apple''s renewalDate: when the subscription renews or, with auto-renewal off, expires.';
COMMENT ON COLUMN renewals_due.due_in IS 'Time from now to renewal_date.';
COMMENT ON COLUMN renewals_due.will_renew IS 'Whether auto-renewal is on. NULL if Apple sends no autoRenewStatus.';
COMMENT ON COLUMN renewals_due.product_id IS 'The product of the current period.';
COMMENT ON COLUMN renewals_due.renews_as IS 'The product that renews next.';
COMMENT ON COLUMN renewals_due.renewal_price_milliunits IS 'The price of the renewal, after offers, in thousandths of a unit of currency: Apple''s renewalPrice or, for several seats, the price of all seats.';
COMMENT ON COLUMN renewals_due.offer_type IS 'Apple''s offerType of the next period: 1 introductory, 2 promotional, 3 offer code, 4 win-back.';
COMMENT ON COLUMN renewals_due.offer_identifier IS 'Apple''s offerIdentifier of the next period.';
COMMENT ON COLUMN renewals_due.is_in_billing_retry IS 'Whether Apple is still trying to charge the customer.';
COMMENT ON COLUMN renewals_due.grace_period_expires_date IS 'Apple''s gracePeriodExpiresDate: the end of the billing grace period. Access continues until then although billing fails.';
COMMENT ON COLUMN renewals_due.price_increase_status IS 'Apple''s priceIncreaseStatus: 0 no response yet, 1 the customer consented, or was notified where no consent is required.';
COMMENT ON COLUMN renewals_due.renewal_billing_plan_type IS 'Apple''s renewalBillingPlanType: BILLED_UPFRONT or MONTHLY.';
COMMENT ON COLUMN renewals_due.commitment_renewal_date IS 'Apple''s commitmentRenewalDate: when the commitment renews.';
COMMENT ON COLUMN renewals_due.signed_date IS 'When Apple signed this renewal info. Later changes are unknown.';

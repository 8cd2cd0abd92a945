-- Which subscriptions renew next, at what price, and which will not?
--
-- A subscription that Apple's own status calls expired (2) or revoked (5), after the renewal info was signed, has no renewal to
-- come. A minute is allowed for the clocks of Apple and the database, as in current_subscriptions.
CREATE OR REPLACE VIEW renewals_due AS
SELECT
    r.app_id, r.original_transaction_id, r.renewal_date, r.renewal_date - now() AS due_in,
    r.auto_renew_status = 1 AS will_renew,
    r.product_id, coalesce(r.auto_renew_product_id, r.product_id) AS renews_as,
    r.renewal_price_milliunits, r.currency,
    r.offer_type, r.offer_identifier, r.offer_discount_type,
    coalesce(r.is_in_billing_retry_period, false) AS is_in_billing_retry,
    r.grace_period_expires_date, r.price_increase_status, r.renewal_billing_plan_type,
    r.commitment_renewal_date, r.signed_date, r.renewal_price_milliunits * 0.001 AS renewal_price_amount
FROM renewals r
WHERE r.renewal_date > now()
  AND NOT EXISTS (SELECT FROM subscription_statuses s
                    JOIN renewals_signed last ON last.app_id = s.app_id AND last.original_transaction_id = s.original_transaction_id
                   WHERE s.app_id = r.app_id AND s.original_transaction_id = r.original_transaction_id AND s.status IN (2, 5)
                     AND s.asked_at + interval '1 minute' >= last.last_signed_date);
COMMENT ON VIEW renewals_due IS
    'Renewals to come, as Apple last said. Renewal info comes with notifications and with Get All Subscription Statuses, so a subscription that neither was about is missing, and one that changed since signed_date is shown as it was. A subscription that Apple''s newer status calls expired or revoked is left out.';
COMMENT ON COLUMN renewals_due.app_id IS 'The app, in apps.';
COMMENT ON COLUMN renewals_due.original_transaction_id IS 'Apple''s originalTransactionId: names the subscription.';
COMMENT ON COLUMN renewals_due.renewal_date IS 'Apple''s renewalDate: when the subscription renews or, with renewal switched off, expires.';
COMMENT ON COLUMN renewals_due.due_in IS 'How long until then.';
COMMENT ON COLUMN renewals_due.will_renew IS 'Whether renewal is switched on; NULL when Apple does not tell.';
COMMENT ON COLUMN renewals_due.product_id IS 'The product of the current period.';
COMMENT ON COLUMN renewals_due.renews_as IS 'The product that renews next.';
COMMENT ON COLUMN renewals_due.renewal_price_milliunits IS 'Apple''s renewalPrice with the offer taken off, in thousandths of a unit of currency.';
COMMENT ON COLUMN renewals_due.offer_type IS 'Apple''s offerType of the next period: 1 introductory, 2 promotional, 3 offer code, 4 win-back.';
COMMENT ON COLUMN renewals_due.offer_identifier IS 'Apple''s offerIdentifier of the next period.';
COMMENT ON COLUMN renewals_due.is_in_billing_retry IS 'Whether Apple is still trying to charge the customer.';
COMMENT ON COLUMN renewals_due.grace_period_expires_date IS 'Apple''s gracePeriodExpiresDate: until when access continues while billing fails.';
COMMENT ON COLUMN renewals_due.price_increase_status IS 'Apple''s priceIncreaseStatus: 0 no response yet, 1 consented or notified.';
COMMENT ON COLUMN renewals_due.renewal_billing_plan_type IS 'Apple''s renewalBillingPlanType: BILLED_UPFRONT or MONTHLY.';
COMMENT ON COLUMN renewals_due.commitment_renewal_date IS 'Apple''s commitmentRenewalDate: when the commitment renews.';
COMMENT ON COLUMN renewals_due.signed_date IS 'When Apple signed this: what changed since is not known.';

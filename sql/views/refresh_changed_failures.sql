-- Which payments that changed failed at first, and were they recovered?
--
-- The rules are the same as in billing_recovery_by_month.
CREATE OR REPLACE VIEW refresh_changed_failures AS
SELECT
    e.sign, e.app_id, date_trunc('month', e.expires_date AT TIME ZONE 'UTC')::date AS month, e.product_id,
    -- A recovery in the grace period changes no date of the period; the notification has the time of the recovery.
    CASE WHEN e.next_is_renewal THEN greatest(e.next_starts_at, e.next_recovered_at) - e.expires_date END AS delay,
    e.is_last AND (e.revocation_date <= e.as_of) IS NOT TRUE
        AND (coalesce(e.grace_until > e.as_of, false)
             OR coalesce(e.is_in_billing_retry_period
                        AND greatest(e.expires_date, e.renewal_info_signed_date) + interval '1440 hours' > e.as_of, false)) AS is_tried
FROM refresh_changed_periods e
WHERE e.has_expired AND NOT e.is_family_shared AND e.expires_date <= e.as_of
  AND (e.has_failed
       OR CASE WHEN e.next_is_renewal THEN e.has_gap OR e.next_recovered_at IS NOT NULL
               ELSE e.is_last AND (e.is_in_billing_retry_period OR e.expiration_intent = 2) END);

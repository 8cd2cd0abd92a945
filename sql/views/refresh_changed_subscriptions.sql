-- In which state is each changed subscription?
--
-- The rules are the same as in current_subscriptions, as of the moment at which the rows were computed.
CREATE OR REPLACE VIEW refresh_changed_subscriptions AS
SELECT
    p.sign, p.as_of, p.app_id, p.product_id, p.storefront, p.currency, p.is_paid, p.is_trial, p.is_family_shared, p.ends_at,
    CASE WHEN p.seat_refunds_at IS NULL THEN p.mrr_milliunits
         ELSE coalesce(p.mrr_before_seat_refunds[(SELECT min(n) FROM generate_subscripts(p.seat_refunds_at, 1) n WHERE p.seat_refunds_at[n] > p.as_of)],
                       p.mrr_milliunits) END AS mrr_milliunits,
    CASE p.auto_renew_status WHEN 1 THEN true WHEN 0 THEN false END AS will_renew,
    reported.n IS NOT NULL AS is_reported_by_apple,
    (ARRAY['revoked', 'active', 'grace period', 'billing retry', 'expired', 'unknown'])[coalesce(reported.n, CASE
        WHEN p.revocation_date <= p.as_of THEN 1
        WHEN p.expires_date IS NULL THEN 6
        WHEN p.expires_date > p.as_of THEN 2
        WHEN p.grace_until > p.as_of THEN 3
        WHEN p.is_in_billing_retry_period
             AND greatest(p.expires_date, p.renewal_info_signed_date) + interval '1440 hours' > p.as_of THEN 4
        ELSE 5
    END)] AS status
FROM refresh_changed_periods p
CROSS JOIN LATERAL (
    SELECT CASE
        WHEN p.reported_status IS NOT NULL
             AND (p.reported_status IN (2, 5) OR p.reported_at > p.as_of - interval '1440 hours')
             AND p.reported_at >= greatest(p.starts_at, CASE WHEN p.revocation_date <= p.as_of THEN p.revocation_date END,
                                           CASE WHEN p.expires_date <= p.as_of THEN p.expires_date END,
                                           CASE WHEN p.grace_until <= p.as_of THEN p.grace_until END)
            THEN (ARRAY[2, 5, 4, 3, 1])[p.reported_status]
        END AS n
) reported
WHERE p.is_last;

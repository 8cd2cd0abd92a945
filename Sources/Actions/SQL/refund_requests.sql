-- Refund requests with what a policy can ask about: without :days the open ones without an answer, or with one in :states, else those
-- of the last :days days.
--
-- Apple asks again, under another notificationUUID, until it has an answer. Requests for a purchase with the same decision are
-- therefore one request: the newest, which the answer belongs to, or for a rehearsal the first, because no other would have
-- followed an answer. A request that Apple rejected the answer to is still open.
SELECT * FROM (
    SELECT DISTINCT ON (r.transaction_id, r.decided_at)
           r.transaction_id, r.requested_at, r.consumption_request_reason, r.product_id, r.type, r.storefront, r.price_milliunits,
           r.currency, r.outcome, t.in_app_ownership_type, t.original_transaction_id, t.app_transaction_id, t.app_account_token::text,
           coalesce(t.payload ? 'advancedCommerceInfo', false) AS has_advanced_commerce,
           floor(extract(epoch FROM r.requested_at - r.purchase_date) / 86400)::bigint AS days_since_purchase,
           (SELECT count(*) FROM transactions e
             WHERE e.app_id = r.app_id AND e.transaction_id <> r.transaction_id AND e.revocation_date < r.requested_at
               AND e.revocation_type IS DISTINCT FROM 'FAMILY_REVOKE' AND e.revocation_type IS DISTINCT FROM 'ASSIGNMENT_REVOKE'
               AND (e.app_transaction_id = t.app_transaction_id
                    OR t.app_transaction_id IS NULL AND e.original_transaction_id = t.original_transaction_id)) AS earlier_refunds
      FROM consumption_requests r
      LEFT JOIN transactions t ON t.app_id = r.app_id AND t.transaction_id = r.transaction_id
     WHERE r.app_id = :app AND r.transaction_id IS NOT NULL
       -- The age comes first, because an index finds it.
       AND r.requested_at > now() - CASE WHEN :days::bigint IS NULL THEN interval '12 hours' ELSE :days * interval '1 day' END
       AND (:days IS NOT NULL OR r.is_open AND (r.answer_state IS NULL OR r.answer_state = ANY (:states::text[])))
     ORDER BY r.transaction_id, r.decided_at, CASE WHEN :days IS NULL THEN -1 ELSE 1 END * extract(epoch FROM r.requested_at)
) asked
 ORDER BY requested_at, transaction_id

-- Which refund requests does a policy answer, and how?

-- Apple asks again, under another notificationUUID, until it has an answer. Requests for a purchase with the same decision
-- therefore count as one: the newest, to which the answer belongs. `actions rehearse` takes the first, because an answer to it
-- would have been the last. A request whose answer Apple rejected is still open.
CREATE OR REPLACE FUNCTION refund_requests(p_app_id integer, p_days bigint, p_states text[]) RETURNS TABLE (
    transaction_id text, requested_at timestamptz, consumption_request_reason text, product_id text, type text, storefront text,
    price_milliunits bigint, currency text, outcome text, in_app_ownership_type text, original_transaction_id text,
    app_transaction_id text, app_account_token text, has_advanced_commerce boolean, days_since_purchase bigint, earlier_refunds bigint
) LANGUAGE plpgsql STABLE SET search_path FROM CURRENT AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT asked.* FROM (
        SELECT DISTINCT ON (r.transaction_id, r.decided_at)
               r.transaction_id, r.requested_at, r.consumption_request_reason, r.product_id, r.type, r.storefront, r.price_milliunits,
               r.currency, r.outcome, t.in_app_ownership_type, t.original_transaction_id, t.app_transaction_id, t.app_account_token::text,
               coalesce(t.payload ? 'advancedCommerceInfo', false) AS has_advanced_commerce,
               floor(extract(epoch FROM r.requested_at - r.purchase_date) / 86400)::bigint AS days_since_purchase,
               -- The rows of purchases, so that several records of one purchase count once and a family member's do not count.
               (SELECT count(*)
                  FROM transactions e
                  CROSS JOIN LATERAL (SELECT FROM purchases p
                                       WHERE p.app_id = e.app_id AND p.transaction_id = e.transaction_id AND p.is_refunded
                                         AND p.refund_date < r.requested_at OFFSET 0) p
                 WHERE e.app_id = r.app_id
                   AND (e.app_transaction_id = t.app_transaction_id OR e.original_transaction_id = t.original_transaction_id)
                   AND (e.original_transaction_id, coalesce(e.web_order_line_item_id, e.transaction_id))
                       IS DISTINCT FROM (t.original_transaction_id, coalesce(t.web_order_line_item_id, t.transaction_id))) AS earlier_refunds
          FROM consumption_requests r
          LEFT JOIN transactions t ON t.app_id = r.app_id AND t.transaction_id = r.transaction_id
         WHERE r.app_id = p_app_id AND r.transaction_id IS NOT NULL
           -- The age comes first, because an index finds it.
           AND r.requested_at > now() - CASE WHEN p_days IS NULL THEN interval '12 hours' ELSE p_days * interval '24 hours' END
           AND (p_days IS NOT NULL OR r.is_open AND (r.answer_state IS NULL OR r.answer_state = ANY (p_states)))
         ORDER BY r.transaction_id, r.decided_at, CASE WHEN p_days IS NULL THEN -1 ELSE 1 END * extract(epoch FROM r.requested_at)
    ) asked
     ORDER BY asked.requested_at, asked.transaction_id;
END $$;
COMMENT ON FUNCTION refund_requests IS
    'Refund requests with what a policy can ask about, the oldest first: without p_days the open ones without an answer, or with one in p_states, else the requests of the last p_days days.';

-- A list matches if one of its entries does. An unknown value matches no condition. RefundCondition does the same.
CREATE OR REPLACE FUNCTION policy_answer(p_policy jsonb, p_request jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT rule.value -> 'answer'
      FROM jsonb_array_elements(p_policy -> 'policy') WITH ORDINALITY AS rule (value, place),
           LATERAL (SELECT rule.value -> 'when' AS asked) w
     WHERE (NOT asked ? 'productTypes'
            OR asked -> 'productTypes' ? CASE p_request ->> 'type' WHEN 'Auto-Renewable Subscription' THEN 'AUTO_RENEWABLE'
                                                                  WHEN 'Non-Renewing Subscription' THEN 'NON_RENEWABLE'
                                                                  WHEN 'Consumable' THEN 'CONSUMABLE'
                                                                  WHEN 'Non-Consumable' THEN 'NON_CONSUMABLE' END) IS TRUE
       AND (NOT asked ? 'productIds' OR asked -> 'productIds' ? (p_request ->> 'product_id')) IS TRUE
       AND (NOT asked ? 'consumptionRequestReasons'
            OR asked -> 'consumptionRequestReasons' ? (p_request ->> 'consumption_request_reason')) IS TRUE
       AND (NOT asked ? 'storefronts' OR asked -> 'storefronts' ? (p_request ->> 'storefront')) IS TRUE
       AND (NOT asked ? 'priceAtMost'
            OR (p_request ->> 'price_milliunits')::bigint
               <= (asked -> 'priceAtMost' ->> (p_request ->> 'currency'))::bigint) IS TRUE
       AND (NOT asked ? 'earlierRefundsAtMost'
            OR (p_request ->> 'earlier_refunds')::bigint <= (asked ->> 'earlierRefundsAtMost')::bigint) IS TRUE
       AND (NOT asked ? 'earlierRefundsAtLeast'
            OR (p_request ->> 'earlier_refunds')::bigint >= (asked ->> 'earlierRefundsAtLeast')::bigint) IS TRUE
       AND (NOT asked ? 'daysSincePurchaseAtMost'
            OR (p_request ->> 'days_since_purchase')::bigint <= (asked ->> 'daysSincePurchaseAtMost')::bigint) IS TRUE
       AND (NOT asked ? 'daysSincePurchaseAtLeast'
            OR (p_request ->> 'days_since_purchase')::bigint >= (asked ->> 'daysSincePurchaseAtLeast')::bigint) IS TRUE
       AND (NOT asked ? 'advancedCommerce' OR asked -> 'advancedCommerce' = p_request -> 'has_advanced_commerce') IS TRUE
     ORDER BY rule.place LIMIT 1
$$;
COMMENT ON FUNCTION policy_answer IS
    'The answer of the first rule of a policy that matches a refund request: the values by column, or "none".';

-- Apple demands a consumptionPercentage of 0 for an undelivered purchase in version 2, and none for a subscription that renews. GRANT_PRORATED needs
-- another one. Source: consumptionPercentage, read 2026-11.
CREATE OR REPLACE FUNCTION undelivered_percentage(p_type text, p_values jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN p_type <> 'Auto-Renewable Subscription' AND p_values ->> 'delivery_status' <> 'DELIVERED'
                     AND NOT p_values ?| '{consumption_percentage,consumption_status}'
                     AND p_values ->> 'refund_preference' IS DISTINCT FROM 'GRANT_PRORATED'
                THEN '{"consumption_percentage": 0}'::jsonb ELSE '{}' END
$$;
COMMENT ON FUNCTION undelivered_percentage IS
    'The consumption_percentage of a row with these values that has none, as an object; an empty object if Apple demands none.';

-- A role that plans can write any rows under the hash of a policy, so an approval of the policy covers them only if they follow from
-- it: each answers an open request that has no answer, with the values of the first rule that matches, until Apple's deadline.
CREATE OR REPLACE FUNCTION follows_from_policy(p_app_id integer, p_batch_id uuid, p_policy jsonb) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path FROM CURRENT AS $$
BEGIN
    RETURN (SELECT b.rows_to_send FROM action_batches b WHERE b.app_id = p_app_id AND b.batch_id = p_batch_id)
           = (SELECT count(*) FROM action_rows x WHERE x.app_id = p_app_id AND x.batch_id = p_batch_id AND x.verdict = 'valid')
       AND NOT EXISTS (
        SELECT FROM action_rows x
          LEFT JOIN refund_requests(p_app_id, NULL, '{planned,approved}') q ON q.transaction_id = x.subject
          CROSS JOIN LATERAL (SELECT policy_answer(p_policy, to_jsonb(q)) AS answer) a
         WHERE x.app_id = p_app_id AND x.batch_id = p_batch_id AND x.verdict = 'valid'
           AND (x.state = 'planned' AND NOT x.may_be_applied AND x.send_by = q.requested_at + interval '12 hours'
                AND x.parameters = a.answer || undelivered_percentage(q.type, a.answer)
                                   || jsonb_build_object('transaction_id', x.subject, 'customer_consented', true)
                                   -- Apple asks for the token of the purchase in version 1 only.
                                   || CASE WHEN x.parameters ? 'consumption_status' AND q.app_account_token IS NOT NULL
                                           THEN jsonb_build_object('app_account_token', q.app_account_token) ELSE '{}' END) IS NOT TRUE);
END $$;
COMMENT ON FUNCTION follows_from_policy IS
    'Whether a planned batch has as many rows to send as it says, and each is what a policy gives for an open refund request.';

-- An approval covers only the rows that a batch has at that time.
CREATE OR REPLACE FUNCTION refuse_late_rows() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF EXISTS (SELECT FROM (SELECT DISTINCT app_id, batch_id FROM added) a JOIN action_batches b USING (app_id, batch_id)
                WHERE b.approved_at IS NOT NULL OR b.started_at IS NOT NULL) THEN
        RAISE EXCEPTION 'a batch that was approved or started gets no further row';
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION refuse_late_rows IS 'Refuses rows of a batch that was approved or started.';
CREATE OR REPLACE TRIGGER refuse_late_rows AFTER INSERT ON action_rows
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION refuse_late_rows();

REVOKE EXECUTE ON FUNCTION refund_requests, policy_answer, undelivered_percentage, follows_from_policy, refuse_late_rows FROM PUBLIC;

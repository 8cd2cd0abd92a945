-- What the ledger knows of each staged row's subscription or transaction, and the first of Apple's rules for Advanced Commerce that it
-- breaks: refusal.
--
-- The subscription of a row is known by its last transaction and its newest renewal info. A refund is about one transaction:
-- :of_transaction. Its stake is the sum of the amounts that its items ask for; a prorated one counts as the whole price.
INSERT INTO stage_action_facts (position, transaction_id, type, purchase_date, expires_date, revocation_date, in_app_ownership_type,
                               price_milliunits, currency, signed_date, offer_discount_type, has_advanced_commerce, extensions,
                               consistency_token, request_reference_id, refusal)
SELECT s.position, t.transaction_id, t.type, t.purchase_date, t.expires_date, t.revocation_date, t.in_app_ownership_type,
       CASE WHEN :of_transaction::boolean THEN i.refund_amount ELSE t.price_milliunits END, t.currency, t.signed_date,
       t.offer_discount_type, has.advanced_commerce, 0,
       CASE WHEN :sends_token::boolean THEN r.advanced_commerce_consistency_token END,
       lower(coalesce(CASE WHEN NOT :of_transaction THEN r.advanced_commerce_request_reference_id END,
                      t.advanced_commerce_request_reference_id)),
       CASE WHEN 'billing_retry' = ANY (:rules::text[]) AND (r.is_in_billing_retry_period OR r.grace_period_expires_date > now())
                THEN ARRAY['billing_retry', 'the subscription is in billing retry or in its grace period, and Apple changes no price of it']
            -- check_rows.sql says that the subscription has expired.
            WHEN 'not_active' = ANY (:rules) AND (t.expires_date > now()) IS NOT TRUE THEN NULL
            WHEN 'not_advanced_commerce' = ANY (:rules) AND NOT has.advanced_commerce
                THEN ARRAY['not_advanced_commerce', 'the purchase has no Advanced Commerce']
            WHEN 'already_migrated' = ANY (:rules) AND has.advanced_commerce
                THEN ARRAY['already_migrated', 'the subscription was already migrated (SubscriptionAlreadyMigratedError, 4000176)']
            WHEN 'no_renewal_info' = ANY (:rules) AND r.original_transaction_id IS NULL
                THEN ARRAY['no_renewal_info', 'the ledger has no renewal info of the subscription; run a crawl with subscriptionStatuses first']
            WHEN 'other_currency' = ANY (:rules) AND s.parameters ->> 'currency' <> t.currency
                THEN ARRAY['other_currency', format('the currency is %s, and the purchase was made in %s', s.parameters ->> 'currency', t.currency)]
            WHEN 'storefront_changed' = ANY (:rules) AND s.parameters ->> 'storefront' <> t.storefront
                THEN ARRAY['storefront_changed', format('the storefront is %s, and that of the purchase is %s (MismatchedStorefrontError, 4000133)',
                                                        s.parameters ->> 'storefront', t.storefront)]
            WHEN 'sku_not_owned' = ANY (:rules) AND i.unknown_sku IS NOT NULL
                THEN ARRAY['sku_not_owned', format('the purchase has no item with the SKU %s', i.unknown_sku)]
            WHEN 'auto_renew_off' = ANY (:rules) AND r.auto_renew_status = 0
                THEN ARRAY['auto_renew_off', 'automatic renewal is off']
            WHEN 'price_increase_communicated' = ANY (:rules) AND i.communicated_sku IS NOT NULL
                THEN ARRAY['price_increase_communicated',
                           format('a price increase of %s was already communicated (PriceChangeCannotBeIssuedWhenAlreadyCommunicatedError, 4000205)',
                                  i.communicated_sku)]
            WHEN 'price_increase_communicated' = ANY (:rules) AND NOT has.advanced_commerce AND r.price_increase_status IS NOT NULL
                THEN ARRAY['price_increase_communicated',
                           'a price increase was communicated (MigrationNotAllowedWhenPriceIncreaseCommunicatedError, 4030027)']
            WHEN 'item_in_offer' = ANY (:rules) AND i.sku_in_offer IS NOT NULL
                THEN ARRAY['item_in_offer', format('the item %s is in an offer', i.sku_in_offer)]
            WHEN 'price_increase_in_india' = ANY (:rules) AND t.storefront = 'IND' AND i.rising_sku IS NOT NULL
                THEN ARRAY['price_increase_in_india',
                           format('the price of %s rises, and Apple increases no price in India (ACAPriceIncreaseIsNotCurrentlySupportedInIndiaError, 4000221)',
                                  i.rising_sku)]
            WHEN 'renews_within_24_hours' = ANY (:rules) AND coalesce(r.renewal_date, t.expires_date) < now() + interval '24 hours'
                THEN ARRAY['renews_within_24_hours',
                           format('renews at %s, in less than 24 hours',
                                  to_char(coalesce(r.renewal_date, t.expires_date) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"'))]
            WHEN 'pending_change' = ANY (:rules)
                 AND (r.auto_renew_status = 1 AND r.auto_renew_product_id <> r.product_id) IS TRUE <> (s.parameters ? 'renewal_items')
                THEN ARRAY['pending_change',
                           CASE WHEN s.parameters ? 'renewal_items'
                                THEN 'renewal_items are only for a subscription that renews to another product (PendingChangesMismatchError, 4000180)'
                                ELSE format('the subscription renews to %s, so it needs renewal_items (PendingChangesMismatchError, 4000180)',
                                            r.auto_renew_product_id) END]
            WHEN 'already_refunded' = ANY (:rules) AND i.refunded_sku IS NOT NULL
                THEN ARRAY['already_refunded', format('the item %s was already refunded (AlreadyRefundedError, 4030021)', i.refunded_sku)]
            WHEN 'refund_amount' = ANY (:rules) AND i.overpaid_sku IS NOT NULL
                THEN ARRAY['refund_amount', format('refundAmount of %s is more than what is left of its price',
                                                   i.overpaid_sku)]
            WHEN 'prorated_earlier_transaction' = ANY (:rules) AND i.is_prorated
                 AND EXISTS (SELECT FROM transactions later
                              WHERE later.app_id = :app AND later.original_transaction_id = t.original_transaction_id
                                AND later.purchase_date > t.purchase_date)
                THEN ARRAY['prorated_earlier_transaction',
                           'only the latest transaction of a subscription gets a prorated refund (ProratedOnlyLatestTransactionError, 4000182)']
            WHEN 'simulated_decline' = ANY (:rules) AND NOT :is_sandbox::boolean
                 AND (i.is_simulated OR s.parameters ->> 'refund_reason' = 'SIMULATE_REFUND_DECLINE')
                THEN ARRAY['simulated_decline', 'SIMULATE_REFUND_DECLINE is for the sandbox (SimulateRefundDeclineOnlyInSandboxError, 4000158)']
            WHEN 'pending_refund' = ANY (:rules)
                 AND EXISTS (SELECT FROM action_rows x JOIN action_batches b ON b.app_id = x.app_id AND b.batch_id = x.batch_id
                              WHERE x.app_id = :app AND x.subject = s.subject AND b.action = :action
                                AND (x.state = 'succeeded' OR x.may_be_applied)
                                AND NOT EXISTS (SELECT FROM notifications n
                                                 WHERE n.app_id = x.app_id AND n.transaction_id = x.subject
                                                   AND n.notification_type IN ('REFUND', 'REFUND_DECLINED')
                                                   AND n.signed_date >= x.first_sent_at - interval '5 minutes'))
                THEN ARRAY['pending_refund', 'an earlier refund request is not decided, as far as the ledger knows (PendingRefundError, 4000181)']
            END
  FROM stage_action_rows s
  CROSS JOIN LATERAL (
      (SELECT t.* FROM transactions t
        WHERE NOT :of_transaction AND t.app_id = :app AND t.original_transaction_id = s.subject
        ORDER BY t.expires_date DESC NULLS LAST, t.purchase_date DESC, t.transaction_id LIMIT 1)
      UNION ALL
      (SELECT t.* FROM transactions t WHERE :of_transaction AND t.app_id = :app AND t.transaction_id = s.subject)
  ) t
  LEFT JOIN renewals r ON r.app_id = :app AND r.original_transaction_id = t.original_transaction_id
  CROSS JOIN LATERAL (
      SELECT t.payload ? 'advancedCommerceInfo' OR coalesce(r.payload ? 'advancedCommerceInfo', false) AS advanced_commerce
  ) has
  -- Apple changes what will renew, and refunds what was paid.
  CROSS JOIN LATERAL (
      SELECT CASE WHEN :of_transaction OR r.original_transaction_id IS NULL THEN 'transaction' ELSE 'renewal' END AS kind,
             CASE WHEN :of_transaction OR r.original_transaction_id IS NULL THEN t.transaction_id
                  ELSE t.original_transaction_id END AS key
  ) owner
  CROSS JOIN LATERAL (
      SELECT min(w.sku) FILTER (WHERE w.position IS NULL) AS unknown_sku,
             min(w.sku) FILTER (WHERE w.offer_reason IS NOT NULL) AS sku_in_offer,
             min(w.sku) FILTER (WHERE w.price_increase_status IN ('PENDING', 'ACCEPTED')) AS communicated_sku,
             min(w.sku) FILTER (WHERE (w.item ->> 'price')::bigint > w.price_milliunits) AS rising_sku,
             min(w.sku) FILTER (WHERE w.revocation_date IS NOT NULL OR w.refunded >= w.paid_milliunits) AS refunded_sku,
             min(w.sku) FILTER (WHERE (w.item ->> 'refundAmount')::bigint > w.paid_milliunits - w.refunded) AS overpaid_sku,
             bool_or(w.item ->> 'refundType' = 'PRORATED') AS is_prorated,
             bool_or(w.item ->> 'refundReason' = 'SIMULATE_REFUND_DECLINE') AS is_simulated,
             sum(coalesce((w.item ->> 'refundAmount')::bigint, w.paid_milliunits - w.refunded))::bigint AS refund_amount
        FROM (SELECT e.item, coalesce(e.item ->> 'currentSKU', e.item ->> 'SKU') AS sku, o.position, o.offer_reason,
                     o.price_increase_status, o.price_milliunits, o.revocation_date,
                     -- The customer paid the price of the offer.
                     coalesce(o.offer_price_milliunits, o.price_milliunits) AS paid_milliunits,
                     coalesce((SELECT sum(f.refund_amount_milliunits) FROM advanced_commerce_refunds f
                                WHERE f.app_id = :app AND f.owner_kind = owner.kind AND f.owner_key = owner.key
                                  AND f.item_position = o.position), 0) AS refunded
                FROM jsonb_array_elements(coalesce(s.parameters -> 'items', '[]')) AS e (item)
                LEFT JOIN LATERAL (
                    SELECT o.* FROM advanced_commerce_items o
                     WHERE o.app_id = :app AND o.owner_kind = owner.kind AND o.owner_key = owner.key
                       AND o.sku = coalesce(e.item ->> 'currentSKU', e.item ->> 'SKU')
                     ORDER BY o.position LIMIT 1
                ) o ON true) w
  ) i
 WHERE s.rule IS NULL

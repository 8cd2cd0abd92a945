-- Fills a migrated, empty schema, which must be first in the search_path, with :transactions transactions, to measure
-- its views.
--
-- About a tenth as many subscriptions over three years: weekly, monthly and yearly, some with trials, refunds and
-- family members. The remaining transactions are one-time purchases. Notifications of the last 180 days; one renewal in
-- 20 failed and was recovered. A job's last run, with two histories of every customer. Every payload has the size of a
-- real one. The same number gives the same data, relative to the day.
\set ON_ERROR_STOP on
\set QUIET on
SET synchronous_commit = off;
SET maintenance_work_mem = '512MB';

INSERT INTO apps (bundle_id, environment, app_apple_id) VALUES ('com.example.game', 'Production', 1234567890);

-- Indexes are built at the end, as after a restore: building them row by row takes ten times as long. The definition of a partitioned table's index says
-- ON ONLY; such an index would have none in the partitions.
CREATE TEMP TABLE later AS
SELECT indexrelid::regclass::text AS name, replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ') AS definition
  FROM pg_index
 WHERE indrelid IN ('transactions'::regclass, 'notifications'::regclass, 'renewals'::regclass, 'crawl_items'::regclass)
   AND NOT indisprimary;
SELECT format('DROP INDEX %s', name) FROM later \gexec

CREATE TEMP TABLE subscription AS
SELECT i, h,
       (ARRAY['news.weekly', 'plus.monthly', 'premium.monthly', 'plus.yearly'])[k] AS product,
       (ARRAY['7 days', '1 month', '1 month', '1 year'])[k]::interval AS period,
       (ARRAY[1490, 4990, 9990, 39990])[k] AS price,
       least((ARRAY[100, 36, 36, 4])[k], 1 + h / 7 % (ARRAY[100, 36, 36, 4])[k]) AS wanted,
       date_trunc('second', now()) - make_interval(secs => h % (1095 * 86400)) AS began,
       i % 5 < 2 AS has_trial,
       (ARRAY['USA', 'DEU', 'JPN', 'GBR'])[1 + i % 4] AS storefront,
       (ARRAY['USD', 'EUR', 'JPY', 'GBP'])[1 + i % 4] AS currency
  FROM (SELECT i, abs(hashint4(i)::bigint) AS h,
               CASE WHEN i % 20 = 0 THEN 1 WHEN i % 5 = 1 THEN 4 WHEN i % 3 = 0 THEN 3 ELSE 2 END AS k
          FROM generate_series(1, :transactions / 13) i) s;

SELECT jsonb_build_object('bundleId', 'com.example.game', 'environment', 'Production', 'inAppOwnershipType', 'PURCHASED',
                          'filler', repeat('eyJhbGciOiJFUzI1NiIsIng1YyI6WyJ', 20)) AS payload \gset

INSERT INTO transactions (
    app_id, transaction_id, original_transaction_id, app_transaction_id, bundle_id, environment, product_id,
    subscription_group_identifier, type, transaction_reason, in_app_ownership_type, quantity, price_milliunits, currency,
    storefront, purchase_date, original_purchase_date, expires_date, offer_type, offer_discount_type, revocation_date,
    revocation_reason, revocation_type, revocation_percentage_milliunits, signed_date, payload_sha256, payload, source)
SELECT
    1, (2000000000000000 + s.i::bigint * 1000 + p)::text, (2000000000000000 + s.i::bigint * 1000)::text,
    (700000000000000000 + s.i)::text, 'com.example.game', 'Production', s.product, '21000001',
    'Auto-Renewable Subscription', CASE WHEN p = 0 THEN 'PURCHASE' ELSE 'RENEWAL' END,
    CASE WHEN s.i % 33 = 0 THEN 'FAMILY_SHARED' ELSE 'PURCHASED' END, 1,
    CASE WHEN p = 0 AND s.has_trial THEN 0 ELSE s.price END, s.currency, s.storefront,
    starts, s.began, CASE WHEN p = 0 AND s.has_trial THEN starts + interval '7 days' ELSE starts + s.period END,
    CASE WHEN p = 0 AND s.has_trial THEN 1 END, CASE WHEN p = 0 AND s.has_trial THEN 'FREE_TRIAL' END,
    CASE WHEN refunded THEN starts + interval '3 days' END, CASE WHEN refunded THEN (s.h % 2)::integer END,
    CASE WHEN refunded THEN 'REFUND_FULL' END, CASE WHEN refunded THEN 100000 END,
    starts, sha256(int8send(s.i * 1000::bigint + p)), :'payload', 'transactionHistory'
FROM subscription s
CROSS JOIN LATERAL generate_series(0, s.wanted - 1) p
CROSS JOIN LATERAL (
    SELECT CASE WHEN p = 0 THEN s.began WHEN s.has_trial THEN s.began + interval '7 days' + (p - 1) * s.period
                ELSE s.began + p * s.period END AS starts
) t
CROSS JOIN LATERAL (SELECT (s.h + p * 7919) % 60 = 0 AND NOT (p = 0 AND s.has_trial)
                           AND starts + interval '3 days' < now() AS refunded) r
WHERE starts < now();

SELECT :transactions - count(*) AS missing FROM transactions \gset
INSERT INTO transactions (
    app_id, transaction_id, original_transaction_id, app_transaction_id, bundle_id, environment, product_id, type,
    transaction_reason, in_app_ownership_type, quantity, price_milliunits, currency, storefront, purchase_date,
    original_purchase_date, revocation_date, revocation_reason, revocation_type, revocation_percentage_milliunits,
    signed_date, payload_sha256, payload, source)
SELECT
    1, (3000000000000000 + i)::text, (3000000000000000 + i)::text, (700000000000000000 + i % (:transactions / 12))::text,
    'com.example.game', 'Production', CASE WHEN i % 3 = 0 THEN 'coins.1200' WHEN i % 50 = 1 THEN 'ac.charge' ELSE 'coins.100' END,
    'Consumable', 'PURCHASE', 'PURCHASED', 1 + i % 2, CASE WHEN i % 3 = 0 THEN 9990 ELSE 990 END * (1 + i % 2),
    (ARRAY['USD', 'EUR', 'JPY', 'GBP'])[1 + i % 4], (ARRAY['USA', 'DEU', 'JPN', 'GBR'])[1 + i % 4], bought, bought,
    CASE WHEN i % 70 = 0 THEN bought + interval '2 days' END, CASE WHEN i % 70 = 0 THEN i % 2 END,
    CASE WHEN i % 70 = 0 THEN 'REFUND_PRORATED' END, CASE WHEN i % 70 = 0 THEN 50000 END,
    bought, sha256(int8send(i::bigint)), :'payload', 'transactionHistory'
FROM (SELECT i, date_trunc('second', now()) - interval '2 days' - make_interval(secs => abs(hashint4(-i)::bigint) % (1090 * 86400)) AS bought
        FROM generate_series(1, greatest(:missing, 0)) i) o;

INSERT INTO advanced_commerce_items (app_id, owner_kind, owner_key, position, sku, display_name, price_milliunits, currency)
SELECT 1, 'transaction', transaction_id, n, 'sku.' || n, 'Item ' || n, price_milliunits / 2, currency
  FROM transactions CROSS JOIN generate_series(0, 1) n WHERE product_id = 'ac.charge';
INSERT INTO advanced_commerce_refunds (app_id, owner_kind, owner_key, item_position, position, refund_date, refund_amount_milliunits, currency, refund_reason)
SELECT 1, 'transaction', transaction_id, 0, 0, purchase_date + interval '1 day', price_milliunits / 2, currency, 'OTHER'
  FROM transactions WHERE product_id = 'ac.charge' AND right(transaction_id, 1) = '1';

INSERT INTO renewals (app_id, original_transaction_id, product_id, auto_renew_product_id, auto_renew_status, expiration_intent,
                      is_in_billing_retry_period, renewal_date, renewal_price_milliunits, currency, signed_date, payload_sha256, payload)
SELECT 1, (2000000000000000 + i::bigint * 1000)::text, product, product, (h % 4 > 0)::integer, CASE WHEN h % 4 = 0 THEN 1 + h / 4 % 3 END,
       h % 40 = 1, now() + make_interval(secs => h % (40 * 86400) - 10 * 86400), price, currency,
       now() - make_interval(secs => h % 86400), '', :'payload'
  FROM subscription;

INSERT INTO notifications (app_id, notification_uuid, notification_type, subtype, version, environment, transaction_id,
                           original_transaction_id, product_id, signed_date, consumption_request_reason, payload_sha256, payload)
SELECT 1, md5(transaction_id || kind)::uuid::text, kind,
       CASE kind WHEN 'EXPIRED' THEN 'VOLUNTARY' WHEN 'DID_CHANGE_RENEWAL_STATUS' THEN 'AUTO_RENEW_DISABLED'
                 WHEN 'DID_RENEW' THEN CASE WHEN abs(hashtext(transaction_id)) % 20 = 0 THEN 'BILLING_RECOVERY' END END, '2.0', 'Production', transaction_id,
       original_transaction_id, product_id, moment, CASE kind WHEN 'CONSUMPTION_REQUEST' THEN 'OTHER' END, '', :'payload'
  FROM transactions t
 CROSS JOIN LATERAL (VALUES
        (CASE WHEN transaction_reason = 'RENEWAL' THEN 'DID_RENEW' WHEN type = 'Consumable' THEN 'ONE_TIME_CHARGE' ELSE 'SUBSCRIBED' END, purchase_date),
        ('CONSUMPTION_REQUEST', revocation_date - interval '20 hours'), ('REFUND', revocation_date),
        ('DID_FAIL_TO_RENEW', CASE WHEN abs(hashtext(transaction_id)) % 20 = 1 THEN expires_date END),
        ('DID_CHANGE_RENEWAL_STATUS', CASE WHEN abs(hashtext(transaction_id)) % 20 = 2 THEN expires_date - interval '1 day' END),
        ('EXPIRED', CASE WHEN right(original_transaction_id, 4) = '1000' THEN expires_date END)) n (kind, moment)
 WHERE moment > now() - interval '180 days' AND moment < now();
INSERT INTO notification_send_attempts
SELECT 1, notification_uuid, signed_date + n * interval '1 hour' + interval '1 second',
       CASE WHEN n = 0 AND left(notification_uuid, 1) = 'a' OR left(notification_uuid, 2) = 'ff' THEN 'TIMED_OUT' ELSE 'SUCCESS' END
  FROM notifications CROSS JOIN LATERAL generate_series(0, CASE WHEN left(notification_uuid, 1) = 'a' THEN 1 ELSE 0 END) n;

INSERT INTO refunds (app_id, transaction_id, original_transaction_id, app_transaction_id, product_id, type, in_app_ownership_type,
                     quantity, price_milliunits, currency, storefront, purchase_date, original_purchase_date, revocation_date,
                     revocation_reason, revocation_type, revocation_percentage_milliunits, signed_date, payload_sha256, payload)
SELECT app_id, transaction_id, original_transaction_id, app_transaction_id, product_id, type, in_app_ownership_type, quantity,
       price_milliunits, currency, storefront, purchase_date, original_purchase_date, revocation_date, revocation_reason,
       revocation_type, revocation_percentage_milliunits, signed_date, payload_sha256, payload
  FROM transactions WHERE revocation_date IS NOT NULL;

INSERT INTO runs (app_id, job, fingerprint, frozen_now, finished_at, exit_code, version)
SELECT 1, 'nightly-sync', '', night, night + interval '5 hours', 2, '1.0.0'
  FROM generate_series(now() - interval '30 days', now(), interval '1 day') night;
INSERT INTO crawl_items (app_id, job, stream, item_key, run_id, state, fingerprint, complete_until, page_seq, finished_at,
                         error_code, error_message)
SELECT 1, 'nightly-sync', stream, (2000000000000000 + i::bigint * 1000)::text, r.run_id, state, '', r.finished_at, 2, r.finished_at,
       CASE state WHEN 'failed' THEN 4040010 END, CASE state WHEN 'failed' THEN 'Transaction id not found.' END
  FROM (SELECT * FROM runs ORDER BY run_id DESC LIMIT 1) r, unnest(ARRAY['refundHistory', 'transactionHistory']) stream,
       generate_series(1, :transactions / 12) i
 CROSS JOIN LATERAL (SELECT CASE WHEN i % 5000 = 0 THEN 'failed' ELSE 'done' END AS state) s;
INSERT INTO rejected_records (app_id, job, stream, item_key, reason, detail, sha256, raw, run_id)
SELECT 1, 'nightly-sync', 'transactionHistory', (2000000000000000 + i::bigint * 1000)::text,
       (ARRAY['chain', 'signature', 'bundleId'])[1 + i % 3], 'as made', sha256(int8send(i::bigint)), convert_to(repeat('x', 4000), 'UTF8'), 31
  FROM generate_series(1, :transactions / 5000) i;

SELECT definition FROM later \gexec
VACUUM ANALYZE;

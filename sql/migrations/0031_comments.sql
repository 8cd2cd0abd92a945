-- The comments of tables, columns and functions, in plain terms.
--
-- This file changes comments only. Views have their comments in sql/views. A view column without a comment of its own gets
-- the comment of its table column (sql/views/shared_comments.sql). The migrator does that only for columns without a
-- comment, so the first statement removes the copies of the earlier comments.
DO $$
DECLARE
    copied record;
BEGIN
    FOR copied IN
        SELECT shown.attrelid::regclass AS viewed, shown.attname
          FROM pg_class view
          JOIN pg_class source ON source.relnamespace = view.relnamespace AND source.relkind IN ('r', 'p')
                              AND source.relname = CASE WHEN view.relname LIKE '%\_at\_refresh' THEN 'kept_' || left(view.relname, -11)
                                                        ELSE 'transactions' END
          JOIN pg_attribute shown ON shown.attrelid = view.oid
          JOIN pg_attribute told ON told.attrelid = source.oid AND told.attname = shown.attname AND told.attnum > 0
         WHERE view.relkind IN ('v', 'm') AND view.relnamespace = current_schema()::regnamespace
           AND col_description(shown.attrelid, shown.attnum) = col_description(told.attrelid, told.attnum)
    LOOP
        EXECUTE format('COMMENT ON COLUMN %s.%I IS NULL', copied.viewed, copied.attname);
    END LOOP;
END $$;

COMMENT ON TABLE advanced_commerce_items IS
    'Line items of Advanced Commerce purchases, from advancedCommerceInfo of transactions and renewal info.';
COMMENT ON COLUMN advanced_commerce_items.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN advanced_commerce_items.owner_kind IS 'The kind of record that contains the item: transaction or renewal.';
COMMENT ON COLUMN advanced_commerce_items.owner_key IS
    'The transaction_id of the transaction, or the original_transaction_id of the renewal.';
COMMENT ON COLUMN advanced_commerce_items.position IS 'Index of the item in Apple''s list, from 0.';
COMMENT ON COLUMN advanced_commerce_items.currency IS
    'Currency of every amount in the row: Apple''s ISO 4217 code in the transaction or renewal info that contains the item.';
COMMENT ON COLUMN advanced_commerce_items.offer_period IS 'Apple''s period of the item''s offer: an ISO 8601 duration.';
COMMENT ON COLUMN advanced_commerce_items.offer_period_count IS 'Apple''s periodCount: the number of periods that the offer lasts.';
COMMENT ON COLUMN advanced_commerce_items.offer_reason IS 'Apple''s reason for the offer: ACQUISITION, WIN_BACK or RETENTION.';

COMMENT ON TABLE advanced_commerce_refunds IS 'Refunds of line items, from advancedCommerceInfo of transactions.';
COMMENT ON COLUMN advanced_commerce_refunds.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN advanced_commerce_refunds.owner_kind IS 'The kind of record that contains the item: transaction or renewal.';
COMMENT ON COLUMN advanced_commerce_refunds.owner_key IS
    'The transaction_id of the transaction, or the original_transaction_id of the renewal.';
COMMENT ON COLUMN advanced_commerce_refunds.item_position IS 'Index of the refunded item in Apple''s list, from 0.';
COMMENT ON COLUMN advanced_commerce_refunds.position IS 'Index of the refund in the item''s list, from 0.';
COMMENT ON COLUMN advanced_commerce_refunds.currency IS
    'Currency of the amount: Apple''s ISO 4217 code in the transaction that contains the item.';

COMMENT ON TABLE apps IS 'The apps in this ledger. An app has one row per environment.';
COMMENT ON COLUMN apps.app_id IS 'StoreLedger''s number for the app in one environment.';
COMMENT ON COLUMN apps.app_apple_id IS
    'Apple''s appAppleId: the app''s number in the App Store. NULL in the sandbox if the job file does not set it.';
COMMENT ON COLUMN apps.server IS
    'The server that the newest run sent its requests to. NULL until a run has begun with a version that records it.';
COMMENT ON COLUMN apps.trusted_roots IS
    'SHA-256 of each root certificate that signs the app''s records. Jobs that trust another root are refused. NULL until a run has begun with a version that records it; the origin of earlier records is unknown.';

COMMENT ON TABLE changed_customers IS
    'Customers whose records a replay accepted after a run had already processed their notification. The next run of a job with changedSince requests them.';
COMMENT ON COLUMN changed_customers.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN changed_customers.mark_id IS 'StoreLedger''s number for the row.';
COMMENT ON COLUMN changed_customers.transaction_id IS 'An original transaction ID or a transaction ID of the customer.';
COMMENT ON COLUMN changed_customers.app_transaction_id IS 'The customer''s app transaction ID. NULL if it is unknown.';
COMMENT ON COLUMN changed_customers.marked_at IS 'When the replay accepted the record.';

COMMENT ON TABLE coverage_gaps IS 'Time ranges that a job requested and that Apple no longer serves.';
COMMENT ON COLUMN coverage_gaps.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN coverage_gaps.stream IS 'The stream that has the gap.';
COMMENT ON COLUMN coverage_gaps.item_key IS
    'The transaction ID or the time window; "app" for the notifications of the whole app; or "erased" and the first characters of a tombstone, as in crawl_items.';
COMMENT ON COLUMN coverage_gaps.gap_start IS 'The beginning of the missing time range.';
COMMENT ON COLUMN coverage_gaps.gap_end IS 'The end of the missing time range.';
COMMENT ON COLUMN coverage_gaps.reason IS 'The reason, in one sentence.';
COMMENT ON COLUMN coverage_gaps.found_at IS 'When the run found the gap.';

COMMENT ON TABLE crawl_items IS
    'One row per job, stream, and transaction ID or time window: its progress, and the process that is working on it.';
COMMENT ON COLUMN crawl_items.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN crawl_items.job IS 'The name in the job file. Progress is stored per app and job name.';
COMMENT ON COLUMN crawl_items.item_key IS
    'For a customer, the transaction ID. For the notifications of the whole app, the time window as two UNIX times in milliseconds with ".." between them and a mark of the filters; "+second" follows for the second reading of a closed day. For the failed deliveries of the last seven days, "failures#" and the mark of the filters.';
COMMENT ON COLUMN crawl_items.run_id IS 'The last run that planned the item.';
COMMENT ON COLUMN crawl_items.state IS 'waiting, leased, done or failed. done and failed refer to the run in run_id.';
COMMENT ON COLUMN crawl_items.claimable_at IS
    'The earliest time at which a worker can take the item: at once, after a deferral, or when the current lease expires. NULL if the item is done or failed.';
COMMENT ON COLUMN crawl_items.lease_owner IS 'The process that holds the lease on the item.';
COMMENT ON COLUMN crawl_items.lease_epoch IS
    'The number of the lease. It grows with every lease and is never reset. A commit with an older number changes nothing.';
COMMENT ON COLUMN crawl_items.fingerprint IS 'The filters that the cursor belongs to. If the filters change, the item starts again.';
COMMENT ON COLUMN crawl_items.window_start IS 'Notifications: startDate, fixed when the run began.';
COMMENT ON COLUMN crawl_items.window_end IS 'Notifications: endDate, fixed when the run began.';
COMMENT ON COLUMN crawl_items.cursor IS
    'Apple''s revision or paginationToken after the last committed page. A completed history keeps it for the next run.';
COMMENT ON COLUMN crawl_items.page_seq IS
    'The number of pages ever committed for this item. It only grows. After a lost answer to a COMMIT it shows whether the commit happened.';
COMMENT ON COLUMN crawl_items.complete_until IS 'The ledger has every record that Apple had up to this time and that matches the filters.';
COMMENT ON COLUMN crawl_items.saw_revocation IS
    'Whether the item''s records have ever included a revoked transaction or a REFUND notification.';
COMMENT ON COLUMN crawl_items.other_environment IS
    'Sandbox if Apple''s production server did not know the ID and the job allows the sandbox as a second attempt.';
COMMENT ON COLUMN crawl_items.request_count IS 'Requests sent in this run, retries included. Requests of a killed process are missing.';
COMMENT ON COLUMN crawl_items.rows_new IS 'Records in this run that the ledger did not have.';
COMMENT ON COLUMN crawl_items.rows_updated IS 'Records in this run that replaced an older snapshot.';
COMMENT ON COLUMN crawl_items.rows_unchanged IS 'Records in this run that the ledger already had.';
COMMENT ON COLUMN crawl_items.restarts IS 'How often Apple refused the cursor in this run, so that the item started again.';
COMMENT ON COLUMN crawl_items.deferrals IS 'How often the item was deferred in this run after failed requests.';
COMMENT ON COLUMN crawl_items.error_code IS 'Apple''s errorCode, or the HTTP status if Apple sent no errorCode.';
COMMENT ON COLUMN crawl_items.error_message IS 'Why the item failed or was deferred.';
COMMENT ON COLUMN crawl_items.finished_at IS 'When the item was last done or failed.';
COMMENT ON COLUMN crawl_items.records_withheld IS 'Records of erased customers that Apple returned in this run. They were not stored.';
COMMENT ON COLUMN crawl_items.refunds_due IS
    'Whether the crawl of this item has found a revocation and no refund history has been planned for the customer since.';

COMMENT ON TABLE erased_marks IS 'Tombstones of erased customers. A record with one of these IDs is never stored again.';
COMMENT ON COLUMN erased_marks.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN erased_marks.mark IS
    'HMAC-SHA256, with the app''s key, of the prefix "transaction ", "appTransaction " or "account " and the ID.';
COMMENT ON COLUMN erased_marks.erased_at IS 'When the ID was erased, or when it first appeared in a later record of an erased customer.';

COMMENT ON TABLE erasure_keys IS 'The key of each app''s tombstones. An app has a row once it has erased a customer.';
COMMENT ON COLUMN erasure_keys.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN erasure_keys.key IS 'Thirty-two random bytes. Without the key, tombstones cannot be matched to any ID.';
COMMENT ON COLUMN erasure_keys.created_at IS 'When a customer of the app was erased for the first time.';

COMMENT ON TABLE erasure_lock IS
    'Always empty; used only for locking. Pages, plans and replays lock it in ROW SHARE mode and an erasure in EXCLUSIVE mode, so that no record is written while its customer is being erased.';

COMMENT ON TABLE exchange_rates IS 'The user''s own exchange rates. Optional: the user fills the table.';
COMMENT ON COLUMN exchange_rates.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN exchange_rates.valid_from IS 'The first day of the rate. The rate applies until valid_from of the next row.';
COMMENT ON COLUMN exchange_rates.rate IS 'The value of one unit of currency in units of reporting_currency.';

COMMENT ON TABLE field_issues IS 'Known fields with an unexpected type or range. The column is NULL and the row is loaded.';
COMMENT ON COLUMN field_issues.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN field_issues.kind IS
    'The kind of record that contained the field: transaction, renewalInfo, notification or appTransaction.';
COMMENT ON COLUMN field_issues.record_key IS
    'The record''s key: a transaction ID, an original transaction ID, a notification UUID or an app transaction ID.';
COMMENT ON COLUMN field_issues.path IS 'The path of the field: dots enter objects, [n] enters arrays.';
COMMENT ON COLUMN field_issues.found IS 'What was found and what is expected.';
COMMENT ON COLUMN field_issues.signed_date IS 'When Apple signed the snapshot that contained the field.';
COMMENT ON COLUMN field_issues.first_seen_at IS 'When StoreLedger first found it.';
COMMENT ON COLUMN field_issues.last_seen_at IS 'When StoreLedger last found it.';

COMMENT ON TABLE jobs IS 'The jobs that have begun a run. A process locks the row while it begins, joins or retries a run.';
COMMENT ON COLUMN jobs.app_id IS 'The app in one environment; see apps.';

COMMENT ON TABLE kept_current_subscriptions IS
    'The rows of current_subscriptions while a refresh builds materialised views from them; otherwise empty.';

COMMENT ON TABLE kept_purchases IS 'The rows of purchases while a refresh builds materialised views from them; otherwise empty.';

COMMENT ON TABLE kept_subscription_months IS
    'The rows of subscription_months while a refresh builds materialised views from them; otherwise empty.';

COMMENT ON TABLE kept_subscription_periods IS
    'The rows of subscription_periods while a refresh builds materialised views from them; otherwise empty.';

COMMENT ON TABLE latest_signatures IS 'The newest signature of each record that Apple has signed again with the same content.';
COMMENT ON COLUMN latest_signatures.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN latest_signatures.kind IS 'The kind of record, as in signed_payloads: transaction, renewalInfo or notification.';
COMMENT ON COLUMN latest_signatures.record_key IS
    'The record''s key, as in signed_payloads: a transaction ID, an original transaction ID or a notification UUID.';
COMMENT ON COLUMN latest_signatures.signed_date IS 'When Apple last signed the content, as far as StoreLedger has requested it.';
COMMENT ON COLUMN latest_signatures.header_id IS 'The JWS header of that signature; see signing_headers.';
COMMENT ON COLUMN latest_signatures.payload IS
    'The signed bytes of a notification. NULL for other kinds: their signed bytes are the stored payload with signed_date, in milliseconds, as signedDate.';

COMMENT ON TABLE notification_send_attempts IS
    'Apple''s attempts to deliver a notification to the app''s server. Apple does not sign them.';
COMMENT ON COLUMN notification_send_attempts.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN notification_send_attempts.attempt_date IS 'Apple''s attemptDate: when Apple tried to deliver the notification.';
COMMENT ON COLUMN notification_send_attempts.send_attempt_result IS 'Apple''s sendAttemptResult: SUCCESS, or the reason for the failure.';
COMMENT ON COLUMN notification_send_attempts.read_at IS
    'When StoreLedger first read the attempt of a notification that Apple had not delivered by then, or read it again after Apple had stopped trying. NULL if the delivery had succeeded, and for attempts stored before StoreLedger recorded this time.';

COMMENT ON TABLE notifications IS 'App Store Server Notifications: one row per notification that Apple sent or tried to send.';
COMMENT ON COLUMN notifications.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN notifications.notification_uuid IS
    'Apple''s notificationUUID: identifies the notification. Repeated deliveries have the same UUID.';
COMMENT ON COLUMN notifications.subtype IS 'Apple''s subtype: details of the type.';
COMMENT ON COLUMN notifications.environment IS
    'Apple''s environment: Production or Sandbox. For an external purchase, StoreLedger derives it from externalPurchaseId.';
COMMENT ON COLUMN notifications.bundle_version IS 'Apple''s bundleVersion of the app.';
COMMENT ON COLUMN notifications.consumption_request_reason IS 'Apple''s consumptionRequestReason: why the customer requested a refund.';
COMMENT ON COLUMN notifications.transaction_id IS 'Apple''s transactionId in the notification''s signed transaction.';
COMMENT ON COLUMN notifications.original_transaction_id IS
    'Apple''s originalTransactionId in the notification''s signed transaction or renewal info.';
COMMENT ON COLUMN notifications.web_order_line_item_id IS 'Apple''s webOrderLineItemId in the notification''s signed transaction.';
COMMENT ON COLUMN notifications.app_transaction_id IS
    'Apple''s appTransactionId in the notification''s signed transaction, renewal info or app transaction.';
COMMENT ON COLUMN notifications.product_id IS 'Apple''s productId in the notification''s signed transaction or renewal info.';
COMMENT ON COLUMN notifications.subscription_group_identifier IS
    'Apple''s subscriptionGroupIdentifier in the notification''s signed transaction.';
COMMENT ON COLUMN notifications.app_account_token IS
    'Apple''s appAccountToken in the notification''s signed transaction or renewal info; personal data.';
COMMENT ON COLUMN notifications.summary_storefront_country_codes IS
    'Apple''s storefrontCountryCodes in summary: the storefronts whose renewal dates were extended.';
COMMENT ON COLUMN notifications.summary_succeeded_count IS 'Apple''s succeededCount in summary: the number of subscriptions extended.';
COMMENT ON COLUMN notifications.summary_failed_count IS 'Apple''s failedCount in summary: the number of subscriptions not extended.';
COMMENT ON COLUMN notifications.external_purchase_id IS
    'Apple''s externalPurchaseId: identifies the token of a purchase outside the App Store.';
COMMENT ON COLUMN notifications.external_purchase_token_creation_date IS 'Apple''s tokenCreationDate: when the token was created.';
COMMENT ON COLUMN notifications.external_purchase_token_expiration_date IS 'Apple''s tokenExpirationDate: when the token expires.';
COMMENT ON COLUMN notifications.app_transaction_receipt_type IS 'Apple''s receiptType in the signed app transaction: its environment.';
COMMENT ON COLUMN notifications.app_transaction_application_version IS 'Apple''s applicationVersion in the signed app transaction.';
COMMENT ON COLUMN notifications.app_transaction_version_external_identifier IS
    'Apple''s versionExternalIdentifier in the signed app transaction.';
COMMENT ON COLUMN notifications.app_transaction_receipt_creation_date IS
    'Apple''s receiptCreationDate in the signed app transaction: when it was signed.';
COMMENT ON COLUMN notifications.app_transaction_original_purchase_date IS
    'Apple''s originalPurchaseDate in the signed app transaction: when the customer first downloaded the app.';
COMMENT ON COLUMN notifications.app_transaction_original_application_version IS
    'Apple''s originalApplicationVersion in the signed app transaction: the version that the customer first downloaded.';
COMMENT ON COLUMN notifications.app_transaction_original_platform IS
    'Apple''s originalPlatform in the signed app transaction: the platform of the first download.';
COMMENT ON COLUMN notifications.app_transaction_preorder_date IS 'Apple''s preorderDate in the signed app transaction.';
COMMENT ON COLUMN notifications.app_transaction_device_verification IS 'Apple''s deviceVerification in the signed app transaction.';
COMMENT ON COLUMN notifications.app_transaction_device_verification_nonce IS
    'Apple''s deviceVerificationNonce in the signed app transaction.';
COMMENT ON COLUMN notifications.signed_date IS 'When Apple signed this snapshot. StoreLedger keeps the newest snapshot.';
COMMENT ON COLUMN notifications.payload_sha256 IS 'SHA-256 of the verified payload bytes; identifies the snapshot.';
COMMENT ON COLUMN notifications.payload IS 'The complete verified payload. It includes fields that have no column.';
COMMENT ON COLUMN notifications.last_changed_at IS
    'When a newer snapshot last replaced the row. Before the first replacement, when the row was first stored.';
COMMENT ON COLUMN notifications.content_hash IS
    'The first eight bytes of a SHA-256 of the content that StoreLedger wrote into the row, without the signature date. NULL if anything else has changed the row since.';
COMMENT ON COLUMN notifications.late_run_id IS
    'The run that found the notification in the second reading of its day; see runs. The notification entered Apple''s history after the first reading of the day. NULL for all other notifications.';

COMMENT ON TABLE planned_streams IS 'The filters with which each stream of a job was last planned.';
COMMENT ON COLUMN planned_streams.app_id IS 'The app in one environment; see apps.';

COMMENT ON TABLE proceeds_rules IS 'The user''s own rules for estimating tax and Apple''s commission. Optional: the user fills the table.';
COMMENT ON COLUMN proceeds_rules.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN proceeds_rules.storefront IS 'Apple''s storefront, three letters; * for every storefront without a rule of its own.';
COMMENT ON COLUMN proceeds_rules.valid_from IS
    'The first day of the rule. The rule applies until valid_from of the storefront''s next row.';
COMMENT ON COLUMN proceeds_rules.tax IS 'The tax included in the price, as a share of the price without tax: 0.19 for 19% VAT.';
COMMENT ON COLUMN proceeds_rules.commission IS
    'Apple''s share of the price without tax, 0 to 1: 0.3, or 0.15 in the Small Business Program.';
COMMENT ON COLUMN proceeds_rules.commission_after_a_year IS
    'Apple''s share of a subscription''s price without tax, 0 to 1, after the subscriber has accumulated a year of paid service: 0.15 by Apple''s terms. NULL means that commission applies.';

COMMENT ON TABLE product_periods IS
    'The usual period of each subscription product, as of the last refresh of the views. refresh_views() fills it and subscription_periods reads it.';
COMMENT ON COLUMN product_periods.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN product_periods.period IS
    'The ISO 8601 period that matches the length of most of the product''s periods; the shorter of two that are equally frequent. Offers, monthly billing and extended periods do not count.';

COMMENT ON TABLE products IS 'The user''s own information about products. Optional: the user fills the table.';
COMMENT ON COLUMN products.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN products.display_name IS 'The user''s name for the product.';
COMMENT ON COLUMN products.product_group IS 'The user''s own group, for totals.';
COMMENT ON COLUMN products.period IS
    'The subscription''s period as an ISO 8601 duration of one unit, such as P1W, P1M or P1Y. It takes precedence over the period that StoreLedger derives from dates.';

COMMENT ON TABLE quarantined_records IS
    'Rejected records by the identity that they claim. A record in this table does not count when a run decides whether too many records fail.';
COMMENT ON COLUMN quarantined_records.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN quarantined_records.reason IS 'The reason, as in rejected_records.';
COMMENT ON COLUMN quarantined_records.identity IS
    'SHA-256 of the kind and the key that the record claims. They stay the same when Apple signs the record again. If the record has neither, SHA-256 of the whole text.';
COMMENT ON COLUMN quarantined_records.record_id IS
    'The row of rejected_records that was written when the record was first received. This row is deleted together with that row.';

COMMENT ON TABLE quoted_ids IS
    'Hashes of possible customer IDs in rejected records, and in notifications without a transaction. An erasure uses them to find those texts.';
COMMENT ON COLUMN quoted_ids.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN quoted_ids.owner_kind IS 'The table that has the text: rejected (rejected_records) or notification (notifications).';
COMMENT ON COLUMN quoted_ids.id_hash IS 'The first eight bytes of the SHA-256 of the ID''s text, as a signed number.';

COMMENT ON TABLE rate_buckets IS 'Requests granted in each 1/3600 of the window. The hourly limit is a sliding window over these rows.';
COMMENT ON COLUMN rate_buckets.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN rate_buckets.bucket IS 'The beginning of the bucket.';
COMMENT ON COLUMN rate_buckets.granted IS 'Requests granted in the bucket, sent or not.';

COMMENT ON TABLE rate_scopes IS 'One row per app and endpoint. Every request of every machine takes its permit here.';
COMMENT ON COLUMN rate_scopes.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN rate_scopes.closed_until IS 'Apple answered 429; no process sends requests before this time.';
COMMENT ON COLUMN rate_scopes.last_now IS 'The latest clock reading used. The time of the rate ledger never goes back.';
COMMENT ON COLUMN rate_scopes.next_at IS 'The earliest time of the next request at an even pace.';
COMMENT ON COLUMN rate_scopes.server IS
    'The database server that last granted requests; see ledger_server(). A different server assumes that rows were lost.';
COMMENT ON COLUMN rate_scopes.least_unit IS
    'The shortest time between two requests that any job has ever used: the fastest pace at which lost rows can have been written.';
COMMENT ON COLUMN rate_scopes.share IS 'The share of each job''s pace that applied after the last 429: 0.05 to 1.';
COMMENT ON COLUMN rate_scopes.share_at IS 'When share was set. Each sixth of a window without a 429 since then restores a twentieth.';

COMMENT ON TABLE refresh_lock IS
    'Always empty; used only for locking. A refresh of the materialised views locks it in EXCLUSIVE mode, so that one session at a time refreshes.';

COMMENT ON TABLE refunds IS 'Results of Apple''s refund history: the newest verified snapshot of each refunded or revoked transaction.';
COMMENT ON COLUMN refunds.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN refunds.transaction_id IS 'Apple''s transactionId: identifies one purchase, renewal or restored purchase.';
COMMENT ON COLUMN refunds.original_transaction_id IS
    'Apple''s originalTransactionId: identifies a subscription. Its first purchase and all its renewals have the same ID.';
COMMENT ON COLUMN refunds.web_order_line_item_id IS
    'Apple''s webOrderLineItemId: identifies a purchase event of a subscription, such as a renewal, across devices.';
COMMENT ON COLUMN refunds.app_transaction_id IS 'Apple''s appTransactionId: identifies the customer''s download of the app.';
COMMENT ON COLUMN refunds.product_id IS 'Apple''s productId: the product in App Store Connect.';
COMMENT ON COLUMN refunds.type IS 'Apple''s type: the kind of product, such as Auto-Renewable Subscription.';
COMMENT ON COLUMN refunds.quantity IS 'Apple''s quantity: the number of consumables purchased.';
COMMENT ON COLUMN refunds.currency IS 'Currency of every amount in the row: Apple''s ISO 4217 code.';
COMMENT ON COLUMN refunds.storefront IS 'Apple''s storefront: the country or region, as a three-letter ISO 3166-1 code.';
COMMENT ON COLUMN refunds.app_account_token IS 'Apple''s appAccountToken: the developer''s own ID of the customer; personal data.';
COMMENT ON COLUMN refunds.original_purchase_date IS 'Apple''s originalPurchaseDate: the purchase date of the original transaction.';
COMMENT ON COLUMN refunds.revocation_date IS 'Apple''s revocationDate: when the purchase was refunded, or revoked from Family Sharing.';
COMMENT ON COLUMN refunds.revocation_percentage_milliunits IS
    'Apple''s revocationPercentage: the refunded share of the price in thousandths of a percent.';
COMMENT ON COLUMN refunds.signed_date IS
    'When Apple first signed this content of the transaction. A later signature of the same content is in latest_signatures.';
COMMENT ON COLUMN refunds.payload_sha256 IS 'SHA-256 of the verified payload bytes; identifies the snapshot.';
COMMENT ON COLUMN refunds.payload IS 'The complete verified payload. It includes fields that have no column.';
COMMENT ON COLUMN refunds.last_changed_at IS
    'When a newer snapshot last replaced the row. Before the first replacement, when the row was first stored.';
COMMENT ON COLUMN refunds.content_hash IS
    'The first eight bytes of a SHA-256 of the content that StoreLedger wrote into the row, without the signature date. NULL if anything else has changed the row since.';

COMMENT ON TABLE rejected_records IS 'Records that could not be loaded: the text as received, and the reason.';
COMMENT ON COLUMN rejected_records.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN rejected_records.record_id IS 'StoreLedger''s number for the record.';
COMMENT ON COLUMN rejected_records.job IS 'The job that received the record.';
COMMENT ON COLUMN rejected_records.stream IS 'The stream that returned the record, such as transactionHistory.';
COMMENT ON COLUMN rejected_records.item_key IS 'The ID or time window of the request.';
COMMENT ON COLUMN rejected_records.reason IS 'The reason: one word of a fixed list, such as signature or bundle.';
COMMENT ON COLUMN rejected_records.detail IS 'What was found and what is expected.';
COMMENT ON COLUMN rejected_records.sha256 IS 'SHA-256 of the whole text as received.';
COMMENT ON COLUMN rejected_records.raw IS 'The text as received, at most the first 256 KiB. Accepted records are never longer.';
COMMENT ON COLUMN rejected_records.first_seen_at IS 'When the record was first received.';
COMMENT ON COLUMN rejected_records.last_seen_at IS 'When the record was last received.';
COMMENT ON COLUMN rejected_records.seen_count IS 'How often it was received.';
COMMENT ON COLUMN rejected_records.run_id IS 'The run that last received the record.';
COMMENT ON COLUMN rejected_records.resolved_at IS 'When a replay loaded the record. NULL while it is rejected.';

COMMENT ON TABLE renewals IS 'The renewal info of each auto-renewable subscription: the newest verified snapshot by signed_date.';
COMMENT ON COLUMN renewals.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN renewals.original_transaction_id IS 'Apple''s originalTransactionId: identifies the subscription.';
COMMENT ON COLUMN renewals.app_transaction_id IS 'Apple''s appTransactionId: identifies the customer''s download of the app.';
COMMENT ON COLUMN renewals.product_id IS 'Apple''s productId: the product of the current period.';
COMMENT ON COLUMN renewals.auto_renew_status IS 'Apple''s autoRenewStatus: 1 auto-renewal is on, 0 it is off.';
COMMENT ON COLUMN renewals.expiration_intent IS
    'Apple''s expirationIntent: why the subscription expired. 1 cancelled, 2 billing error, 3 no consent to a price increase, 4 product not available, 5 other.';
COMMENT ON COLUMN renewals.grace_period_expires_date IS
    'Apple''s gracePeriodExpiresDate: the end of the billing grace period. Access continues until then although billing fails.';
COMMENT ON COLUMN renewals.price_increase_status IS
    'Apple''s priceIncreaseStatus: 0 no response yet, 1 the customer consented, or was notified where no consent is required.';
COMMENT ON COLUMN renewals.recent_subscription_start_date IS
    'Apple''s recentSubscriptionStartDate: the earliest start of a series of periods without a gap of 60 days or more.';
COMMENT ON COLUMN renewals.currency IS 'Currency of every amount in the row: Apple''s ISO 4217 code.';
COMMENT ON COLUMN renewals.offer_period IS 'Apple''s offerPeriod: the duration of the offer, as an ISO 8601 duration.';
COMMENT ON COLUMN renewals.eligible_win_back_offer_ids IS 'Apple''s eligibleWinBackOfferIds; the best offer comes first.';
COMMENT ON COLUMN renewals.app_account_token IS 'Apple''s appAccountToken: the developer''s own ID of the customer; personal data.';
COMMENT ON COLUMN renewals.advanced_commerce_consistency_token IS
    'Apple''s consistencyToken: required by Apple for the next change of the subscription.';
COMMENT ON COLUMN renewals.signed_date IS
    'When Apple first signed this content of the renewal info. A later signature of the same content is in latest_signatures.';
COMMENT ON COLUMN renewals.payload_sha256 IS 'SHA-256 of the verified payload bytes; identifies the snapshot.';
COMMENT ON COLUMN renewals.payload IS 'The complete verified payload. It includes fields that have no column.';
COMMENT ON COLUMN renewals.last_changed_at IS
    'When a newer snapshot last replaced the row. Before the first replacement, when the row was first stored.';
COMMENT ON COLUMN renewals.content_hash IS
    'The first eight bytes of a SHA-256 of the content that StoreLedger wrote into the row, without the signature date. NULL if anything else has changed the row since.';

COMMENT ON TABLE runs IS 'One row per run of a job, with its times, result and counts. Several processes can work on one run.';
COMMENT ON COLUMN runs.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN runs.run_id IS 'The number of the run. It grows with every run of any job.';
COMMENT ON COLUMN runs.fingerprint IS
    'SHA-256 of the job''s streams, filters and source of IDs when the run began. A run with another fingerprint supersedes an unfinished run.';
COMMENT ON COLUMN runs.phase IS
    '-1: items are being planned. 0: notifications that identify changed customers. 1: histories and notifications. 2: refund histories of customers whose history has a revocation.';
COMMENT ON COLUMN runs.frozen_now IS 'The time that "now" in the job file means for this run.';
COMMENT ON COLUMN runs.finished_at IS
    'When every item was done or failed, or when another run superseded this one. NULL while work is left.';
COMMENT ON COLUMN runs.message IS 'Why the run stopped with work left, in one sentence.';
COMMENT ON COLUMN runs.listed_ids IS 'Distinct transaction IDs in the job''s list when the run began.';
COMMENT ON COLUMN runs.duplicate_ids IS 'Duplicate IDs in the list, which were dropped.';
COMMENT ON COLUMN runs.rows_new IS 'Records that the ledger did not have.';
COMMENT ON COLUMN runs.rows_unchanged IS 'Records that the ledger already had, in the same or a newer version.';
COMMENT ON COLUMN runs.records_rejected IS 'Records that were stored in rejected_records and not loaded.';
COMMENT ON COLUMN runs.gaps IS 'Time ranges found by the run that Apple no longer serves.';
COMMENT ON COLUMN runs.records_withheld IS 'Records of erased customers that Apple returned. They were not stored.';
COMMENT ON COLUMN runs.withheld_ids IS 'Listed IDs of erased customers. They were not requested.';
COMMENT ON COLUMN runs.followed_until IS
    'changedSince: the customers in notifications signed before this time are requested by this run or an earlier one. NULL if the run ended before this step.';
COMMENT ON COLUMN runs.server IS
    'The server (appStore.baseURL) when the run began. NULL for runs that began before StoreLedger recorded it.';
COMMENT ON COLUMN runs.trusted_roots IS
    'SHA-256 of each trusted root certificate when the run began. NULL for runs that began before StoreLedger recorded them.';
COMMENT ON COLUMN runs.stopped_for_rejects_at IS
    'When a process last stopped because 1 in 20 of the records it received for the first time failed verification. The run does not stop for that reason again.';
COMMENT ON COLUMN runs.begun_by IS
    'Random number of the invocation that began the run. After a lost connection the invocation uses it to recognise its own run.';
COMMENT ON COLUMN runs.is_retry IS 'Whether the run requests only items that failed in earlier runs.';
COMMENT ON COLUMN runs.refunds_followed_until IS
    'refundHistory with `for: revoked`: the customers of REFUND notifications stored before this time are marked for a request. NULL if the run ended before this step.';

COMMENT ON TABLE schema_drift IS 'Unknown fields and enumeration values in Apple''s records.';
COMMENT ON COLUMN schema_drift.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN schema_drift.kind IS
    'The kind of record that contained the field: transaction, renewalInfo, notification or appTransaction.';
COMMENT ON COLUMN schema_drift.path IS
    'The path of the unknown field, or field=value for an unknown value of a known field. Dots enter objects, [] enters arrays.';
COMMENT ON COLUMN schema_drift.sample IS
    'One value as JSON text, at most 200 characters. Values that look like a UUID are masked. An erasure in the app sets it to NULL; it stays NULL until the field is received again.';
COMMENT ON COLUMN schema_drift.first_seen_at IS 'When StoreLedger first found it.';
COMMENT ON COLUMN schema_drift.last_seen_at IS 'When StoreLedger last found it.';
COMMENT ON COLUMN schema_drift.seen_count IS 'How often it was received.';

COMMENT ON COLUMN schema_views.filed_changes IS 'The value of filed_changes() in the snapshot of the last refresh.';

COMMENT ON TABLE signed_payloads IS 'The raw archive: every payload that Apple signed, with the data needed to verify it again.';
COMMENT ON COLUMN signed_payloads.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN signed_payloads.kind IS 'The kind of record: transaction, renewalInfo, notification or appTransaction.';
COMMENT ON COLUMN signed_payloads.record_key IS
    'The record''s key: a transaction ID, an original transaction ID, a notification UUID or an app transaction ID.';
COMMENT ON COLUMN signed_payloads.payload_sha256 IS
    'SHA-256 of the payload bytes. It distinguishes two payloads signed in the same millisecond.';
COMMENT ON COLUMN signed_payloads.header_id IS 'The JWS header of the payload; see signing_headers.';
COMMENT ON COLUMN signed_payloads.payload IS
    'The payload bytes as Apple signed them when StoreLedger first received this content. In a notification, a zero byte and four bytes of header_id replace each nested header.';
COMMENT ON COLUMN signed_payloads.is_refund IS
    'Whether refund history returned the payload. If so, a replay also loads the transaction into refunds.';

COMMENT ON TABLE signing_headers IS
    'The JWS headers of the raw archive. Each header is stored once, because thousands of payloads share one certificate chain.';
COMMENT ON COLUMN signing_headers.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN signing_headers.header_id IS 'StoreLedger''s number for the header.';
COMMENT ON COLUMN signing_headers.header IS
    'The first segment of the JWS as received, in base64url: the algorithm and the certificate chain.';
COMMENT ON COLUMN signing_headers.first_seen_at IS
    'When StoreLedger first stored the header. A certificate chain that differs from earlier ones is a rotation. NULL for headers stored before StoreLedger recorded this time.';

COMMENT ON TABLE stale_statistics IS 'Tables from which an erasure has removed rows since their planner statistics were last updated.';
COMMENT ON COLUMN stale_statistics.stale_id IS 'StoreLedger''s number for the row.';
COMMENT ON COLUMN stale_statistics.table_name IS 'The name of the table.';

COMMENT ON COLUMN transactions.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN transactions.transaction_id IS 'Apple''s transactionId: identifies one purchase, renewal or restored purchase.';
COMMENT ON COLUMN transactions.original_transaction_id IS
    'Apple''s originalTransactionId: identifies a subscription. Its first purchase and all its renewals have the same ID.';
COMMENT ON COLUMN transactions.previous_original_transaction_id IS
    'Apple''s previousOriginalTransactionId: the original transaction ID before a migration.';
COMMENT ON COLUMN transactions.web_order_line_item_id IS
    'Apple''s webOrderLineItemId: identifies a purchase event of a subscription, such as a renewal, across devices.';
COMMENT ON COLUMN transactions.app_transaction_id IS 'Apple''s appTransactionId: identifies the customer''s download of the app.';
COMMENT ON COLUMN transactions.product_id IS 'Apple''s productId: the product in App Store Connect.';
COMMENT ON COLUMN transactions.type IS 'Apple''s type: the kind of product, such as Auto-Renewable Subscription.';
COMMENT ON COLUMN transactions.quantity IS 'Apple''s quantity: the number of consumables purchased.';
COMMENT ON COLUMN transactions.currency IS 'Currency of every amount in the row: Apple''s ISO 4217 code.';
COMMENT ON COLUMN transactions.storefront IS 'Apple''s storefront: the country or region, as a three-letter ISO 3166-1 code.';
COMMENT ON COLUMN transactions.app_account_token IS 'Apple''s appAccountToken: the developer''s own ID of the customer; personal data.';
COMMENT ON COLUMN transactions.original_purchase_date IS 'Apple''s originalPurchaseDate: the purchase date of the original transaction.';
COMMENT ON COLUMN transactions.is_upgraded IS 'Apple''s isUpgraded: whether the customer upgraded to another subscription of the group.';
COMMENT ON COLUMN transactions.offer_identifier IS 'Apple''s offerIdentifier: the ID of the offer code or promotional offer.';
COMMENT ON COLUMN transactions.offer_period IS 'Apple''s offerPeriod: the duration of the offer, as an ISO 8601 duration.';
COMMENT ON COLUMN transactions.revocation_date IS
    'Apple''s revocationDate: when the purchase was refunded, or revoked from Family Sharing.';
COMMENT ON COLUMN transactions.revocation_percentage_milliunits IS
    'Apple''s revocationPercentage: the refunded share of the price in thousandths of a percent.';
COMMENT ON COLUMN transactions.commitment_billing_period_number IS
    'Apple''s billingPeriodNumber: the number of this billing period in the commitment.';
COMMENT ON COLUMN transactions.commitment_total_billing_periods IS
    'Apple''s totalBillingPeriods: the number of billing periods in the commitment.';
COMMENT ON COLUMN transactions.signed_date IS
    'When Apple first signed this content of the transaction. A later signature of the same content is in latest_signatures.';
COMMENT ON COLUMN transactions.payload_sha256 IS 'SHA-256 of the verified payload bytes; identifies the snapshot.';
COMMENT ON COLUMN transactions.payload IS 'The complete verified payload. It includes fields that have no column.';
COMMENT ON COLUMN transactions.source IS 'The stream that returned the newest snapshot, such as transactionHistory.';
COMMENT ON COLUMN transactions.listed_transaction_id IS
    'The ID in the user''s list whose request returned the transaction. NULL if the transaction came from a stream of the whole app.';
COMMENT ON COLUMN transactions.last_changed_at IS
    'When a newer snapshot last replaced the row. Before the first replacement, when the row was first stored.';
COMMENT ON COLUMN transactions.content_hash IS
    'The first eight bytes of a SHA-256 of the content that StoreLedger wrote into the row, without the signature date. NULL if anything else has changed the row since.';

COMMENT ON TABLE unread_texts IS
    'Texts that were stored before quoted_ids existed and that are not in it yet. The next erasure reads them and empties the table.';
COMMENT ON COLUMN unread_texts.app_id IS 'The app in one environment; see apps.';

COMMENT ON FUNCTION analyze_crawl_items IS 'Updates the planner statistics of crawl_items on behalf of a role that does not own the table.';
COMMENT ON FUNCTION analyze_erased_tables IS
    'Updates the planner statistics of tables from which an erasure has removed rows, on behalf of a role that does not own them.';
COMMENT ON FUNCTION analyze_grown_tables IS
    'Updates the planner statistics of tables that have grown by a fifth since their last update, on behalf of a role that does not own them.';
COMMENT ON FUNCTION erasure_key IS
    'Blocks erasures until the transaction ends. Returns the app''s tombstone key, or NULL if no customer was erased.';
COMMENT ON FUNCTION filed_changes IS 'Returns a text that changes when runs record more changed rows.';
COMMENT ON FUNCTION forget_content_hash IS
    'Clears content_hash when anything other than StoreLedger changes a row, so that a replay compares the whole row.';
COMMENT ON FUNCTION forget_statistics IS 'Internal step of analyze_erased_tables().';
COMMENT ON FUNCTION keep_all_headers_in_use IS 'Refuses to empty signing_headers while the archive contains payloads.';
COMMENT ON FUNCTION keep_apps_in_use IS 'Refuses to delete or renumber an app that still has records.';
COMMENT ON FUNCTION keep_for_refresh IS 'Internal step of refresh_views().';
COMMENT ON FUNCTION keep_headers_in_use IS 'Refuses to delete or renumber signing headers while the archive contains payloads.';
COMMENT ON FUNCTION keep_product_periods IS 'Internal step of refresh_views().';
COMMENT ON FUNCTION kept_columns IS 'Internal step of refresh_views().';
COMMENT ON FUNCTION ledger_server IS
    'Returns the system identifier, timeline and database. If they differ, the rows here can be older than the permits already granted.';
COMMENT ON FUNCTION rate_close IS 'Closes an endpoint to every process for the given time and halves the pace that follows.';
COMMENT ON FUNCTION rate_share IS 'Returns the share of the pace in use. Every 429 halves it; each sixth of a window restores a twentieth.';
COMMENT ON FUNCTION rate_take IS 'Takes requests from an endpoint''s budget before they are sent, or returns the time to wait.';
COMMENT ON FUNCTION refresh_views IS
    'Refreshes the materialised views, or only those never filled, on behalf of a role that does not own them.';

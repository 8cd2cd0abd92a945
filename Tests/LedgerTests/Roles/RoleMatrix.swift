/// What each role of `sql/roles.sql` may do: the golden list.
enum RoleMatrix {
    struct Statement: Sendable {
        let sql: String
        /// The roles that may, by their first letters: migrator, loader, exporter, analyst, eraser (`d`, for it deletes).
        ///
        /// Everybody else gets 42501.
        let allowed: String

        init(_ sql: String, _ allowed: String) {
            self.sql = sql
            self.allowed = allowed
        }
    }

    /// The cases D20 to D24; `ROLE` stands for the roles' prefix.
    static let statements: [Statement] = [
        // Reading
        Statement("SELECT count(*) FROM transactions", "mled"),
        Statement("SELECT payload FROM transactions", "mld"),
        Statement("SELECT app_account_token FROM transactions", "mled"),
        Statement("SELECT * FROM notifications", "mld"),
        Statement("SELECT payload, signature FROM signed_payloads", "mld"),
        Statement("SELECT header FROM signing_headers", "ml"),
        Statement("SELECT first_seen_at FROM signing_headers", "mle"),
        Statement("SELECT raw FROM rejected_records", "mld"),
        Statement("SELECT reason, detail, dismissed_at FROM rejected_records", "mled"),
        Statement("UPDATE rejected_records SET dismissed_at = now()", "ml"),
        Statement("SELECT item_key, cursor FROM crawl_items", "mled"),
        Statement("SELECT granted FROM rate_buckets", "mle"),
        Statement("SELECT * FROM runs", "mled"),
        Statement("SELECT * FROM masked_transactions", "ma"),
        Statement("SELECT * FROM masked_refunds", "ma"),
        Statement("SELECT * FROM masked_renewals", "ma"),
        Statement("SELECT * FROM masked_notifications", "ma"),
        Statement("SELECT * FROM masked_runs, masked_coverage_gaps, masked_apps", "mlea"),
        Statement("SELECT host FROM run_processes", "mle"),
        Statement("SELECT host FROM masked_run_processes", "ma"),
        Statement("UPDATE run_processes SET ended_at = NULL", "ml"),
        Statement("DELETE FROM run_processes", "m"),
        Statement("SELECT * FROM crawl_items_by_state, rejected_records_by_reason", "mlea"),
        Statement("SELECT * FROM schema_migrations, schema_definitions", "mleda"),
        Statement("SELECT * FROM masked_advanced_commerce_items, masked_advanced_commerce_refunds", "ma"),
        Statement("SELECT * FROM customer_groups, group_members, seats, seat_claims, seat_price_tiers", "mled"),
        Statement(
            "SELECT * FROM masked_customer_groups, masked_group_members, masked_seats, masked_seat_claims, masked_seat_price_tiers",
            "ma"
        ),
        Statement("SELECT * FROM seats_by_subscription, seat_access, seat_subscriptions, unclaimed_seats", "mlea"),
        Statement("DELETE FROM customer_groups", "mld"),
        Statement("UPDATE seats SET asked_at = now()", "ml"),
        Statement("SELECT * FROM subscription_periods, purchases, current_subscriptions", "mlea"),
        Statement("SELECT * FROM mrr_by_month, renewals_and_churn_by_month, retention_cohorts", "mlea"),
        Statement(
            "SELECT 1 FROM subscription_movement_by_day, retention_by_renewal, offer_redemptions_by_month, product_period_conflicts",
            "mlea"
        ),
        Statement(
            "SELECT 1 FROM new_subscriptions_by_day, trials_by_day, revenue_by_day, cancellations_by_day, mrr_at_risk_by_month",
            "mlea"
        ),
        Statement(
            "SELECT 1 FROM subscription_movement_by_week, subscription_movement_by_month, mrr_retention_by_month",
            "mlea"
        ),
        Statement(
            "SELECT 1 FROM average_revenue_by_month, refund_requests_by_month, exchange_rate_days, revenue_after_a_year_by_month",
            "mlea"
        ),
        Statement(
            "SELECT 1 FROM mrr_converted_by_month, mrr_movement_converted_by_month, proceeds_converted_by_month",
            "mlea"
        ),
        Statement("SELECT 1 FROM lifetime_value_converted_by_cohort", "mlea"),
        Statement("SELECT 1 FROM notification_completeness_by_day", "mlea"),
        Statement("SELECT 1 FROM notification_reconciliation", "ml"),
        Statement("UPDATE notification_reconciliation SET unexplained = 0", "ml"),
        Statement("DELETE FROM notification_reconciliation", "m"),
        Statement("SELECT * FROM products, exchange_rates, proceeds_rules", "mlea"),
        Statement("SELECT reporting_currency FROM revenue_converted_by_month", "mlea"),
        Statement("SELECT view FROM view_freshness", "mlea"),
        // Views read it with the rights of their owner.
        Statement("SELECT period FROM product_periods", "m"),
        Statement("SELECT name FROM schema_views", "mle"),
        Statement("UPDATE schema_views SET applied_at = now()", "m"),
        Statement("INSERT INTO exchange_rates VALUES ('EUR', 'USD', '2026-01-01', 0.9)", "ml"),
        Statement("UPDATE exchange_rates SET rate = 1", "ml"),
        Statement("DELETE FROM exchange_rates", "m"),
        Statement("SELECT 1 FROM reporting_currencies, storefronts, missing_rates, missing_rates_by_month", "mlea"),
        Statement("SELECT count(*) FROM refresh_views()", "mld"),
        Statement("SELECT count(*) FROM verify_views()", "ml"),
        Statement("SELECT forget_erased(1, '{}')", "md"),
        Statement("SELECT record_refresh_failure('x')", "mld"),
        Statement("SELECT failure FROM refresh_state", "mle"),
        Statement("UPDATE refresh_state SET failure = NULL", "m"),
        Statement("SELECT key FROM refresh_changed_keys", "m"),
        Statement("SELECT 1 FROM refresh_stored_periods, refresh_stored_transactions, refresh_mrr_totals", "m"),
        // Loading
        Statement("INSERT INTO apps (bundle_id, environment) VALUES ('x', 'Sandbox')", "m"),
        Statement("SELECT add_app('x', 'Sandbox', NULL, NULL)", "ml"),
        Statement("SELECT app_has_records(1), end_erased_items(1, 1, '{}')", "ml"),
        Statement("UPDATE signed_payloads SET payload = ''", "m"),
        Statement("UPDATE runs SET exit_code = 0", "ml"),
        Statement(
            """
            INSERT INTO transactions (app_id, transaction_id, signed_date, payload_sha256, payload)
            SELECT 1, '1', now(), '', '{}' WHERE false
            """,
            "ml"
        ),
        Statement("UPDATE transactions SET product_id = 'x'", "ml"),
        Statement("UPDATE crawl_items SET lease_epoch = lease_epoch + 1", "ml"),
        Statement("UPDATE rate_scopes SET closed_until = 'infinity'", "ml"),
        Statement("UPDATE signing_headers SET header = 'x'", "m"),
        Statement("UPDATE masked_transactions SET product_id = 'x'", "m"),
        Statement("UPDATE schema_migrations SET checksum = 'x'", "m"),
        Statement("SELECT analyze_crawl_items()", "ml"),
        Statement("SELECT analyze_grown_tables()", "mld"),
        // Deleting
        Statement("DELETE FROM transactions", "md"),
        Statement("DELETE FROM refunds", "md"),
        Statement("DELETE FROM renewals", "md"),
        Statement("DELETE FROM notifications", "md"),
        Statement("DELETE FROM signed_payloads", "md"),
        Statement("DELETE FROM rejected_records", "md"),
        Statement("DELETE FROM crawl_items", "mld"),
        Statement("DELETE FROM coverage_gaps", "mld"),
        Statement("DELETE FROM runs", "m"),
        Statement("DELETE FROM apps", "m"),
        Statement("DELETE FROM advanced_commerce_items", "mld"),
        Statement("DELETE FROM field_issues", "mld"),
        Statement("DELETE FROM rate_buckets", "ml"),
        Statement("DELETE FROM erased_marks", "m"),
        Statement("DELETE FROM erasure_keys", "m"),
        Statement("TRUNCATE transactions", "m"),
        Statement("DELETE FROM change_exports", "ml"),
        Statement("DELETE FROM changed_rows", "ml"),
        // Erasing
        Statement("SELECT key FROM erasure_keys", "mld"),
        Statement("SELECT erasure_key(1)", "mld"),
        Statement("INSERT INTO erasure_keys (app_id, key) SELECT 1, '' WHERE false", "md"),
        Statement("INSERT INTO erased_marks (app_id, mark) SELECT 1, '' WHERE false", "mld"),
        Statement("UPDATE runs SET message = NULL", "mld"),
        Statement("SELECT id_hash FROM quoted_ids", "mld"),
        Statement("SELECT owner_key FROM unread_texts", "mld"),
        Statement("INSERT INTO quoted_ids SELECT 1, 'rejected', '1', 1 WHERE false", "mld"),
        Statement("INSERT INTO stale_statistics (table_name) SELECT 'x' WHERE false", "mld"),
        Statement("DELETE FROM stale_statistics", "m"),
        Statement("SELECT analyze_erased_tables()", "mld"),
        // Publishing changes
        Statement("SELECT FROM change_exports FOR UPDATE", "ml"),
        Statement(
            "INSERT INTO changed_rows (app_id, table_name, key) SELECT 1, 'transactions', '{1}' WHERE false",
            "ml"
        ),
        // Receiving
        Statement("SELECT body FROM received_notifications", "mld"),
        Statement("UPDATE received_notifications SET receipts = 2", "ml"),
        Statement("DELETE FROM received_notifications", "mld"),
        Statement("SELECT destination FROM forwards", "mled"),
        Statement("SELECT body FROM forwards", "mld"),
        Statement("UPDATE forwards SET attempts = 1", "ml"),
        Statement("DELETE FROM forwards", "mld"),
        // Locking
        Statement("LOCK TABLE erasure_lock IN ROW SHARE MODE", "mld"),
        Statement("LOCK TABLE erasure_lock IN EXCLUSIVE MODE", "mld"),
        Statement("LOCK TABLE refresh_lock IN EXCLUSIVE MODE", "mld"),
        Statement("LOCK TABLE migration_lock IN EXCLUSIVE MODE", "m"),
        Statement("SELECT FROM jobs FOR UPDATE", "ml"),
        Statement("INSERT INTO jobs (app_id, job) SELECT 1, '' WHERE false", "ml"),
        Statement("SELECT views_are_stale()", "mld"),
        Statement("SELECT forget_job(1, 'nowhere')", "ml"),
        // Removing old records
        Statement("SELECT remove_old_payloads(1, interval '400 days', 1)", "ml"),
        Statement("SELECT remove_old_attempts(1, interval '400 days', 1)", "ml"),
        Statement("SELECT remove_old_received(1, interval '400 days', 1)", "ml"),
        Statement("SELECT remove_superseded_items(1, 'nowhere', interval '400 days', 1)", "ml"),
        Statement("DELETE FROM retention_progress", "md"),
        // Changing what there is
        Statement("CREATE TABLE appstore.mine (n integer)", "m"),
        Statement("ALTER TABLE transactions ADD COLUMN mine integer", "m"),
        Statement("DROP TABLE field_issues", "m"),
        Statement("CREATE VIEW appstore.mine AS SELECT 1 AS n", "m"),
        Statement("CREATE INDEX ON transactions (currency)", "m"),
        Statement("CREATE FUNCTION appstore.mine() RETURNS integer LANGUAGE sql AS 'SELECT 1'", "m"),
        Statement("ALTER VIEW masked_transactions SET (security_barrier = false)", "m"),
        Statement("COMMENT ON TABLE transactions IS 'x'", "m"),
        Statement("CREATE TEMP TABLE mine (n integer)", "mled"),
        // Beyond the ledger
        Statement("CREATE SCHEMA mine", ""),
        Statement("CREATE TABLE public.mine (n integer)", ""),
        Statement("CREATE ROLE mine", ""),
        Statement("ALTER ROLE ROLE_analyst SUPERUSER", ""),
        Statement("ALTER ROLE ROLE_loader PASSWORD 'x'", "l"),  // its own; anybody may change that
        Statement("SET LOCAL ROLE ROLE_owner", "m"),
        Statement("SET LOCAL ROLE ROLE_loader", "l"),
        Statement("SET LOCAL session_replication_role = replica", ""),
        Statement("SELECT rolpassword FROM pg_authid", ""),
        Statement("SELECT pg_read_file('/etc/passwd')", ""),
        Statement("SELECT pg_ls_dir('/')", ""),
        Statement("SELECT lo_import('/etc/passwd')", ""),
        Statement("COPY apps FROM '/etc/passwd'", ""),
        Statement("COPY (SELECT 1) TO PROGRAM 'true'", ""),
        Statement("CREATE PUBLICATION mine", ""),
        Statement("CREATE EVENT TRIGGER mine ON ddl_command_start EXECUTE FUNCTION mine()", ""),
    ]
}

-- Creates the roles of a ledger and grants their privileges.
--
--     psql -v schema=appstore -f sql/roles.sql DATABASE
--
-- Run it before the first `storeledger migrate`, and again after every later one: until then, no role has privileges on new
-- tables. Running it again changes nothing. It gives everything in the schema to the owner, and replaces the privileges of
-- these roles in one transaction. The privileges of other roles are kept, and the roles that owned something before become
-- members of the owner, so their logins can do what they could do before.
--
-- Run it as a superuser, or as a role with CREATEROLE that owns the database, as a provider's administrator does. Such a role
-- becomes a member of the owner; to change a ledger that another role has made, it must be a member of that role.
--
--   storeledger_owner     owns schema, tables, views and functions; it cannot log in
--   storeledger_migrator  storeledger migrate: acts as the owner
--   storeledger_loader    storeledger run, retry, reconcile, replay, plan, status, coverage, jobs, rejects, failures, export, doctor, refresh,
--                         dictionary, report, rates
--   storeledger_exporter  storeledger export, plan, status, coverage, jobs list, rejects list, failures, dictionary, report, rates list,
--                         rates missing: reads all but payloads, the archive and rejected text
--   storeledger_eraser    storeledger erase: deletes a customer's records, but cannot change records
--   storeledger_actor     storeledger actions plan, run, status, results, retry, rehearse, jobs and doctor for actions: reads the ledger, and records
--                         what it sends; it cannot approve, and cannot plan a batch that needs no approval
--   storeledger_approver  storeledger actions approve, withdraw, status, results: can set the approval of a batch or policy, and nothing else
--   storeledger_receiver  storeledger receive, and status and doctor of a receiver's job: stores notifications and the records in them; it has
--                         no right on runs, limits and actions
--   storeledger_analyst   the masked_ views and the views for analysis (storeledger report, status); read-only, one minute per
--                         statement
--
-- The roles have no password. Set one with \password storeledger_loader in psql, which sends only its SCRAM verifier,
-- or map the role in pg_hba.conf to a client certificate or a system user (peer).
--
-- Variables, each given with -v:
--   schema=appstore   the value of output.postgres.schema in the job file
--   prefix=NAME       replaces storeledger in the role names: roles belong to the whole cluster, so two separate ledgers
--                     in one cluster need two prefixes
--   exclusive=1       the database contains only the ledger: revokes from PUBLIC the privileges to connect, to create
--                     temporary tables and to use the schema public
\set ON_ERROR_STOP on
\set QUIET on
\pset tuples_only on
\if :{?schema} \else \set schema appstore \endif
\if :{?prefix} \else \set prefix storeledger \endif
\if :{?exclusive} \else \set exclusive 0 \endif

BEGIN;
SET LOCAL client_min_messages = warning;
SET LOCAL search_path = pg_catalog, pg_temp;
SELECT set_config('storeledger.schema', :'schema', true) AS s, set_config('storeledger.prefix', :'prefix', true) AS p \gset ignored_

-- LOGIN is set only when a role is created, so a locked role stays locked.
CREATE TEMP TABLE ledger_roles ON COMMIT DROP AS
SELECT word, :'prefix' || '_' || word AS name, login
  FROM (VALUES ('owner', 'NOLOGIN'), ('migrator', 'LOGIN'), ('loader', 'LOGIN'), ('exporter', 'LOGIN'),
               ('eraser', 'LOGIN'), ('actor', 'LOGIN'), ('approver', 'LOGIN'), ('receiver', 'LOGIN'), ('analyst', 'LOGIN CONNECTION LIMIT 20')) v (word, login);
SELECT format('CREATE ROLE %I %s', name, login) FROM ledger_roles r
 WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = r.name) \gexec

-- A superuser needs no membership. The creator of a role has ADMIN on it since PostgreSQL 16, and may grant it to itself.
SELECT format('GRANT %I TO CURRENT_USER', name)
  FROM ledger_roles, pg_roles me
 WHERE word = 'owner' AND me.rolname = current_user AND NOT me.rolsuper
   AND NOT (pg_has_role(name, 'USAGE') AND pg_has_role(name, CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'USAGE' ELSE 'SET' END))
\gexec

DO $$
DECLARE
    mighty text;
BEGIN
    SELECT string_agg(rolname, ', ') INTO mighty FROM pg_roles JOIN pg_temp.ledger_roles ON name = rolname
     WHERE rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls;
    IF mighty IS NOT NULL THEN
        RAISE EXCEPTION 'more than a ledger needs: % may create roles or databases, replicate, or bypass row security', mighty;
    END IF;
END $$;

-- Objects that migrate creates belong to the owner, for any migrator.
SELECT format('GRANT %I TO %I', :'prefix' || '_owner', :'prefix' || '_migrator') \gexec
SELECT format('ALTER ROLE %I IN DATABASE %I SET role = %L', :'prefix' || '_migrator', current_database(), :'prefix' || '_owner')
\gexec
SELECT format('ALTER DEFAULT PRIVILEGES FOR ROLE %I REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC', :'prefix' || '_owner') \gexec

SELECT format('CREATE SCHEMA %I', :'schema') WHERE to_regnamespace(quote_ident(:'schema')) IS NULL \gexec
DO $$
DECLARE
    ledger    oid := quote_ident(current_setting('storeledger.schema'))::regnamespace;
    -- The schema of sql/analyst.sql.
    hidden    oid := to_regnamespace(quote_ident(left(current_setting('storeledger.schema'), 56) || '_hidden'));
    new_owner regrole := quote_ident(current_setting('storeledger.prefix') || '_owner')::regrole;
    thing     record;
BEGIN
    FOR thing IN
        SELECT format('SCHEMA %I', nspname) AS name, nspowner AS owner FROM pg_namespace WHERE oid IN (ledger, hidden)
        UNION ALL
        SELECT format('%s %s', CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'c' THEN 'TYPE' ELSE 'TABLE' END,
                      oid::regclass), relowner
          FROM pg_class WHERE relnamespace = ledger AND relkind IN ('r', 'p', 'v', 'm') OR relnamespace = hidden AND relkind = 'c'
        UNION ALL
        SELECT format('ROUTINE %s', oid::regprocedure), proowner FROM pg_proc WHERE pronamespace = ledger
    LOOP
        CONTINUE WHEN thing.owner = new_owner;
        EXECUTE format('ALTER %s OWNER TO %s', thing.name, new_owner);
        IF NOT pg_has_role(thing.owner, new_owner, 'USAGE') THEN
            EXECUTE format('GRANT %s TO %s', new_owner, thing.owner::regrole);
        END IF;
    END LOOP;
END $$;

-- Revoke all privileges first.
SELECT format('REVOKE ALL ON %s %I FROM %s', kind, :'schema', whom)
  FROM (VALUES ('SCHEMA'), ('ALL TABLES IN SCHEMA'), ('ALL SEQUENCES IN SCHEMA'), ('ALL ROUTINES IN SCHEMA')) k (kind),
       (SELECT 'PUBLIC' AS whom UNION ALL SELECT quote_ident(name) FROM ledger_roles WHERE word <> 'owner') w \gexec
SELECT format('REVOKE ALL ON DATABASE %I FROM %I', current_database(), name) FROM ledger_roles \gexec
SELECT format('GRANT CONNECT%s ON DATABASE %I TO %I',
              CASE WHEN word <> 'analyst' THEN ', TEMPORARY' END, current_database(), name) FROM ledger_roles \gexec
\if :exclusive
    SELECT format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database()) \gexec
    REVOKE ALL ON SCHEMA public FROM PUBLIC;
\endif
SELECT format('GRANT USAGE ON SCHEMA %I TO %I', :'schema', name) FROM ledger_roles WHERE login LIKE 'LOGIN%' \gexec

-- Loading. DELETE only on tables in which a newer snapshot can have fewer rows (items, issues, spent budget), on locks, on
-- rejected records that a replay has loaded, on notifications that were refused long ago, and on windows and gaps that were planned
-- while the server's clock was ahead.
SELECT format('GRANT %s ON TABLE %s TO %I', rights, to_regclass(quote_ident(:'schema') || '.' || relation), :'prefix' || '_loader')
  FROM (VALUES
           ('SELECT', 'schema_migrations'),
           ('SELECT', 'schema_definitions'),
           ('SELECT', 'schema_views'),
           ('SELECT', 'products'),
           ('SELECT, INSERT, UPDATE', 'exchange_rates'),
           ('SELECT', 'proceeds_rules'),
           ('SELECT, UPDATE (app_apple_id, server, trusted_roots)', 'apps'),
           ('SELECT, INSERT, UPDATE', 'transactions'),
           ('SELECT, INSERT, UPDATE', 'refunds'),
           ('SELECT, INSERT, UPDATE', 'renewals'),
           ('SELECT, INSERT, UPDATE', 'notifications'),
           ('SELECT, INSERT, UPDATE', 'app_transactions'),
           ('SELECT, INSERT, UPDATE', 'subscription_statuses'),
           ('SELECT, INSERT, UPDATE', 'orders'),
           ('SELECT, INSERT, DELETE', 'order_transactions'),
           ('SELECT, INSERT, UPDATE, DELETE', 'customer_groups'),
           ('SELECT, INSERT, UPDATE, DELETE', 'group_members'),
           ('SELECT, INSERT, UPDATE', 'seats'),
           ('SELECT, INSERT, DELETE', 'seat_claims'),
           ('SELECT, INSERT, DELETE', 'seat_price_tiers'),
           ('SELECT, INSERT, UPDATE', 'notification_send_attempts'),
           ('SELECT, INSERT, DELETE', 'advanced_commerce_items'),
           ('SELECT, INSERT, DELETE', 'advanced_commerce_refunds'),
           ('SELECT, INSERT', 'signing_headers'),
           ('SELECT, INSERT, UPDATE (is_refund)', 'signed_payloads'),
           ('SELECT, INSERT, UPDATE, DELETE', 'latest_signatures'),
           ('SELECT, INSERT', 'changed_customers'),
           ('SELECT, INSERT, UPDATE, DELETE', 'received_notifications'),
           ('SELECT, INSERT, UPDATE, DELETE', 'forwards'),
           ('SELECT, INSERT, UPDATE', 'planned_streams'),
           ('SELECT, INSERT, UPDATE', 'run_processes'),
           ('SELECT, INSERT, UPDATE', 'schema_drift'),
           ('SELECT, INSERT, UPDATE, DELETE', 'field_issues'),
           ('SELECT, INSERT, UPDATE', 'rejected_records'),
           ('SELECT, INSERT, UPDATE, DELETE', 'quarantined_records'),
           ('SELECT, INSERT, UPDATE', 'runs'),
           ('SELECT, INSERT, UPDATE, DELETE', 'crawl_items'),
           ('SELECT, INSERT, UPDATE, DELETE', 'coverage_gaps'),
           ('SELECT, INSERT, UPDATE', 'notification_reconciliation'),
           ('SELECT', 'erasure_keys'),
           ('SELECT, INSERT', 'erased_marks'),
           ('SELECT, INSERT, DELETE', 'quoted_ids'),
           ('SELECT, DELETE', 'unread_texts'),
           ('SELECT, INSERT', 'stale_statistics'),
           ('SELECT', 'refresh_state'),
           ('SELECT, INSERT, UPDATE', 'jobs'),
           ('SELECT, INSERT, UPDATE, DELETE', 'change_exports'),
           ('SELECT, INSERT, UPDATE, DELETE', 'changed_rows'),
           -- These tables are only locked: they have no columns and no rows.
           ('UPDATE', 'erasure_lock'),
           ('UPDATE', 'refresh_lock'),
           ('SELECT, INSERT, UPDATE', 'rate_scopes'),
           ('SELECT, INSERT, UPDATE, DELETE', 'rate_buckets')
       ) v (rights, relation)
 WHERE to_regclass(quote_ident(:'schema') || '.' || relation) IS NOT NULL \gexec
-- Functions with the privileges of the owner. Other functions run with the caller's privileges and need no grant.
SELECT format('GRANT EXECUTE ON FUNCTION %s TO %I', p.oid::regprocedure, :'prefix' || '_loader')
  FROM pg_proc p
 WHERE pronamespace = to_regnamespace(quote_ident(:'schema')) AND (NOT prosecdef OR proname IN ('add_app', 'analyze_crawl_items', 'analyze_erased_tables', 'analyze_grown_tables', 'app_has_records', 'end_erased_items', 'forget_job', 'record_refresh_failure', 'refresh_views', 'remove_old_attempts', 'remove_old_payloads', 'remove_old_received', 'remove_superseded_items', 'verify_views', 'views_are_stale')) \gexec

-- Erasing. Every table that can contain a customer's records, and the tombstones; see docs/guides/erasure.md.
SELECT format('GRANT %s ON TABLE %s TO %I', rights, to_regclass(quote_ident(:'schema') || '.' || relation), :'prefix' || '_eraser')
  FROM (VALUES
           ('SELECT', 'schema_migrations'),
           ('SELECT', 'schema_definitions'),
           ('SELECT', 'apps'),
           ('SELECT, INSERT', 'erasure_keys'),
           ('SELECT, INSERT', 'erased_marks'),
           ('UPDATE', 'erasure_lock'),
           ('UPDATE', 'refresh_lock'),
           ('SELECT, DELETE', 'transactions'),
           ('SELECT, DELETE', 'refunds'),
           ('SELECT, DELETE', 'renewals'),
           ('SELECT, DELETE', 'notifications'),
           ('SELECT, DELETE', 'app_transactions'),
           ('SELECT, DELETE', 'subscription_statuses'),
           ('SELECT, DELETE', 'orders'),
           ('SELECT, DELETE', 'order_transactions'),
           ('SELECT, DELETE', 'customer_groups'),
           ('SELECT, DELETE', 'group_members'),
           ('SELECT, DELETE', 'seats'),
           ('SELECT, DELETE', 'seat_claims'),
           ('SELECT, DELETE', 'seat_price_tiers'),
           ('SELECT, DELETE', 'notification_send_attempts'),
           ('SELECT, DELETE', 'advanced_commerce_items'),
           ('SELECT, DELETE', 'advanced_commerce_refunds'),
           ('SELECT, DELETE', 'signed_payloads'),
           ('SELECT, DELETE', 'latest_signatures'),
           ('SELECT, DELETE', 'changed_customers'),
           ('SELECT, UPDATE (notification_uuid, notification_type, subtype, original_transaction_id, body, body_sha256, normalised_at), DELETE', 'received_notifications'),
           ('SELECT, DELETE', 'forwards'),
           ('SELECT, DELETE', 'field_issues'),
           ('SELECT, DELETE', 'rejected_records'),
           ('SELECT, DELETE', 'crawl_items'),
           ('SELECT, DELETE', 'coverage_gaps'),
           ('SELECT, DELETE', 'retention_progress'),
           ('SELECT, INSERT, DELETE', 'quoted_ids'),
           ('SELECT, DELETE', 'unread_texts'),
           ('SELECT, INSERT', 'stale_statistics'),
           ('SELECT, UPDATE (sample), DELETE', 'schema_drift'),
           ('SELECT, UPDATE (input, parameters, subject, reason, apple_message, answer, confirmed_by, transaction_id_before, expires_date_before, consistency_token, request_reference_id_before, salt, state, claimable_at, lease_owner, lease_epoch)', 'action_rows'),
           ('SELECT, DELETE', 'action_attempts'),
           ('SELECT, UPDATE (input)', 'action_input_rows'),
           ('SELECT, UPDATE (message)', 'runs')
       ) v (rights, relation)
 WHERE to_regclass(quote_ident(:'schema') || '.' || relation) IS NOT NULL \gexec
SELECT format('GRANT EXECUTE ON FUNCTION %s TO %I', p.oid::regprocedure, :'prefix' || '_eraser')
  FROM pg_proc p
 WHERE pronamespace = to_regnamespace(quote_ident(:'schema')) AND proname IN ('analyze_erased_tables', 'analyze_grown_tables', 'erasure_key', 'forget_erased', 'ids_in_cells', 'record_refresh_failure', 'refresh_views', 'views_are_stale') \gexec

-- Receiving. What a loader needs for records of notifications, and no right on crawl_items: end_erased_items() replaces the ID of an
-- erased customer there. DELETE as for loading.
SELECT format('GRANT %s ON TABLE %s TO %I', rights, to_regclass(quote_ident(:'schema') || '.' || relation), :'prefix' || '_receiver')
  FROM (VALUES
           ('SELECT', 'schema_migrations'),
           ('SELECT', 'schema_definitions'),
           ('SELECT', 'apps'),
           ('SELECT, INSERT, UPDATE, DELETE', 'received_notifications'),
           ('SELECT, INSERT, UPDATE, DELETE', 'forwards'),
           ('SELECT, INSERT, UPDATE', 'transactions'),
           ('SELECT, INSERT, UPDATE', 'renewals'),
           ('SELECT, INSERT, UPDATE', 'notifications'),
           ('SELECT, INSERT, UPDATE', 'app_transactions'),
           ('SELECT, INSERT, DELETE', 'advanced_commerce_items'),
           ('SELECT, INSERT, DELETE', 'advanced_commerce_refunds'),
           ('SELECT, INSERT, DELETE', 'seat_price_tiers'),
           ('SELECT, INSERT', 'signing_headers'),
           ('SELECT, INSERT, UPDATE (is_refund)', 'signed_payloads'),
           ('SELECT, INSERT, UPDATE, DELETE', 'latest_signatures'),
           ('INSERT', 'changed_customers'),
           ('SELECT, INSERT, UPDATE', 'schema_drift'),
           ('SELECT, INSERT, UPDATE, DELETE', 'field_issues'),
           ('SELECT, INSERT, UPDATE', 'rejected_records'),
           ('SELECT, INSERT, UPDATE', 'quarantined_records'),
           ('SELECT', 'erasure_keys'),
           ('SELECT, INSERT', 'erased_marks'),
           ('SELECT, INSERT, DELETE', 'quoted_ids'),
           ('SELECT, DELETE', 'unread_texts'),
           ('INSERT', 'stale_statistics'),
           ('UPDATE', 'erasure_lock')
       ) v (rights, relation)
 WHERE to_regclass(quote_ident(:'schema') || '.' || relation) IS NOT NULL \gexec
SELECT format('GRANT EXECUTE ON FUNCTION %s TO %I', p.oid::regprocedure, :'prefix' || '_receiver')
  FROM pg_proc p
 WHERE pronamespace = to_regnamespace(quote_ident(:'schema')) AND (NOT prosecdef OR proname IN ('add_app', 'app_has_records', 'end_erased_items')) \gexec

-- Actions. The loader has no right on their tables, so a role that loads records cannot send anything. The actor reads what its
-- checks and queries need. It writes every column except the columns of approvals and the columns that the plan has frozen.
SELECT format('GRANT %s ON TABLE %s TO %I', rights, to_regclass(quote_ident(:'schema') || '.' || relation), :'prefix' || '_actor')
  FROM (VALUES
           ('SELECT', 'schema_migrations'),
           ('SELECT', 'schema_definitions'),
           ('SELECT', 'apps'),
           ('SELECT', 'transactions'),
           ('SELECT', 'refunds'),
           ('SELECT', 'renewals'),
           ('SELECT', 'notifications'),
           ('SELECT', 'subscription_statuses'),
           ('SELECT', 'seats'),
           ('SELECT', 'seat_claims'),
           ('SELECT', 'advanced_commerce_items'),
           ('SELECT', 'advanced_commerce_refunds'),
           ('SELECT', 'products'),
           ('SELECT, INSERT (app_id, batch_id, job, action, rows_sha256, occurrence, input_name, input_sha256, input_columns, row_count, rows_to_send, rows_invalid, rows_ineligible, rows_duplicate, rows_same, policy_sha256, parameters_sha256, salted_sha256), UPDATE (started_at, finished_at, approval_ended_because)', 'action_batches'),
           ('SELECT', 'action_policy_approvals'),
           ('SELECT, INSERT, UPDATE (state, request_id, may_be_applied, attempts, http_status, apple_code, apple_message, answer, confirmed_by, first_sent_at, last_sent_at, ended_at, claimable_at, lease_owner, lease_epoch)', 'action_rows'),
           ('SELECT, INSERT, UPDATE', 'action_attempts'),
           ('SELECT, INSERT', 'action_input_rows'),
           ('SELECT', 'erasure_keys'),
           ('SELECT', 'erased_marks'),
           ('UPDATE', 'erasure_lock'),
           ('SELECT, INSERT, UPDATE', 'rate_scopes'),
           ('SELECT, INSERT, UPDATE, DELETE', 'rate_buckets')
       ) v (rights, relation)
 WHERE to_regclass(quote_ident(:'schema') || '.' || relation) IS NOT NULL \gexec
SELECT format('GRANT EXECUTE ON FUNCTION %s TO %I', p.oid::regprocedure, :'prefix' || '_actor')
  FROM pg_proc p
 WHERE pronamespace = to_regnamespace(quote_ident(:'schema')) AND (NOT prosecdef OR proname IN ('approve_by_policy', 'discard_plans', 'forget_actions', 'lock_approvals')) \gexec

SELECT format('GRANT %s ON TABLE %s TO %I', rights, to_regclass(quote_ident(:'schema') || '.' || relation), :'prefix' || '_approver')
  FROM (VALUES
           ('SELECT', 'schema_migrations'),
           ('SELECT', 'schema_definitions'),
           ('SELECT', 'apps'),
           ('SELECT, UPDATE (approved_at, approved_by, approved_rows, approval_expires_at, approval_ended_because)', 'action_batches'),
           ('SELECT, INSERT (app_id, job, action, policy_sha256, policy, maximum_rows, expires_at), UPDATE (withdrawn_at)', 'action_policy_approvals'),
           ('SELECT', 'action_rows'),
           ('SELECT', 'action_input_rows')
       ) v (rights, relation)
 WHERE to_regclass(quote_ident(:'schema') || '.' || relation) IS NOT NULL \gexec

SELECT format('GRANT EXECUTE ON FUNCTION %s TO %I', p.oid::regprocedure, :'prefix' || '_approver')
  FROM pg_proc p
 WHERE pronamespace = to_regnamespace(quote_ident(:'schema')) AND proname IN ('approval_is_in_force', 'end_approvals', 'lock_approvals') \gexec

-- Exporting. Every column that a CSV file or report can show, without payloads and binary columns.
SELECT format('GRANT SELECT (%s) ON TABLE %s TO %I', string_agg(quote_ident(attname), ', '), attrelid::regclass, :'prefix' || '_exporter')
  FROM pg_attribute
 WHERE attrelid IN (SELECT to_regclass(quote_ident(:'schema') || '.' || relation)
                      FROM (VALUES ('schema_migrations'), ('schema_definitions'), ('schema_views'), ('products'), ('exchange_rates'), ('proceeds_rules'), ('apps'), ('transactions'), ('refunds'), ('renewals'),
                                   ('notifications'), ('notification_send_attempts'), ('app_transactions'), ('subscription_statuses'),
                                   ('orders'), ('order_transactions'), ('customer_groups'), ('group_members'), ('seats'), ('seat_claims'),
                                   ('seat_price_tiers'), ('advanced_commerce_items'),
                                   ('advanced_commerce_refunds'), ('schema_drift'), ('field_issues'),
                                   ('rejected_records'), ('runs'), ('run_processes'), ('crawl_items'), ('coverage_gaps'), ('rate_scopes'),
                                   ('rate_buckets'), ('refresh_state'), ('forwards')) v (relation))
   AND attnum > 0 AND NOT attisdropped AND atttypid NOT IN ('jsonb'::regtype, 'bytea'::regtype)
 GROUP BY attrelid \gexec
-- Only when each header was first seen.
SELECT format('GRANT SELECT (app_id, header_id, first_seen_at) ON TABLE %s TO %I', c.oid::regclass, :'prefix' || '_exporter')
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'first_seen_at'
 WHERE c.relnamespace = to_regnamespace(quote_ident(:'schema')) AND c.relname = 'signing_headers' \gexec
-- Only when notifications were received and became rows.
SELECT format('GRANT SELECT (app_id, version, signed_date, received_at, normalised_at) ON TABLE %s TO %I', relation, :'prefix' || '_exporter')
  FROM (SELECT to_regclass(quote_ident(:'schema') || '.received_notifications') AS relation) r WHERE relation IS NOT NULL \gexec

-- Each file of sql/views names the roles that may read its view, and migrate lists them in schema_views.
SELECT EXISTS (SELECT FROM pg_attribute
                WHERE attrelid = to_regclass(quote_ident(:'schema') || '.schema_views') AND attname = 'readers') AS has_readers \gset
\if :has_readers
    SELECT format('GRANT SELECT ON TABLE %I.%I TO %I', :'schema', v.name, r.name)
      FROM :"schema".schema_views v, unnest(v.readers) reader JOIN ledger_roles r ON r.word = reader WHERE r.word <> 'analyst' \gexec
\endif
-- The functions of these views.
SELECT format('GRANT EXECUTE ON FUNCTION %s TO %I', p.oid::regprocedure, name)
  FROM pg_proc p, ledger_roles
 WHERE pronamespace = to_regnamespace(quote_ident(:'schema')) AND proname IN ('exchange_rate', 'proceeds_rule')
   AND word IN ('loader', 'exporter', 'actor') \gexec

-- What the report reads too.
SELECT format('GRANT SELECT ON TABLE %s TO %I', to_regclass(quote_ident(:'schema') || '.' || relation), name)
  FROM (VALUES ('schema_migrations'), ('schema_definitions')) v (relation), ledger_roles
 WHERE to_regclass(quote_ident(:'schema') || '.' || relation) IS NOT NULL AND word IN ('loader', 'exporter') \gexec

-- Analysis.
\set inside_roles 1
SELECT :'prefix' || '_analyst' AS analyst \gset
\ir analyst.sql

COMMIT;

-- Which keys have changed since the last refresh?

-- Each function appends the keys of the rows that a statement inserted, changed or deleted.
--
-- Pages update transactions and renewals most. There, one INSERT writes the keys before and after, which are almost always the same: each statement
-- costs more than its rows.
CREATE OR REPLACE FUNCTION log_changed_transactions() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        INSERT INTO refresh_changed_keys (app_id, kind, key)
        SELECT app_id, 'purchase', coalesce(original_transaction_id, transaction_id) FROM new_rows
        UNION
        SELECT app_id, 'purchase', coalesce(original_transaction_id, transaction_id) FROM old_rows;
    ELSIF TG_OP = 'INSERT' THEN
        INSERT INTO refresh_changed_keys (app_id, kind, key)
        SELECT DISTINCT app_id, 'purchase', coalesce(original_transaction_id, transaction_id) FROM new_rows;
    ELSE
        -- Notifications can name a transaction that is no separate purchase. A refresh finds its changes by the purchase, but not the
        -- transaction itself once it is gone.
        INSERT INTO refresh_changed_keys (app_id, kind, key)
        SELECT app_id, 'purchase', coalesce(original_transaction_id, transaction_id) FROM old_rows
        UNION
        SELECT app_id, 'transaction', transaction_id FROM old_rows;
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION log_changed_subscriptions() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        INSERT INTO refresh_changed_keys (app_id, kind, key)
        SELECT app_id, 'purchase', original_transaction_id FROM new_rows
        UNION
        SELECT app_id, 'purchase', original_transaction_id FROM old_rows;
    ELSIF TG_OP = 'INSERT' THEN
        INSERT INTO refresh_changed_keys (app_id, kind, key) SELECT DISTINCT app_id, 'purchase', original_transaction_id FROM new_rows;
    ELSE
        INSERT INTO refresh_changed_keys (app_id, kind, key) SELECT DISTINCT app_id, 'purchase', original_transaction_id FROM old_rows;
    END IF;
    RETURN NULL;
END $$;

-- The same status that Apple gave again has the kind 'again', because it changes few figures; see resolve_keys().
CREATE OR REPLACE FUNCTION log_changed_statuses() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        INSERT INTO refresh_changed_keys (app_id, kind, key)
        SELECT app_id, CASE WHEN (n.status, n.ended_at) IS NOT DISTINCT FROM (o.status, o.ended_at) THEN 'again' ELSE 'purchase' END,
               original_transaction_id
          FROM new_rows n FULL JOIN old_rows o USING (app_id, original_transaction_id);
    ELSIF TG_OP = 'INSERT' THEN
        INSERT INTO refresh_changed_keys (app_id, kind, key) SELECT app_id, 'purchase', original_transaction_id FROM new_rows;
    ELSE
        INSERT INTO refresh_changed_keys (app_id, kind, key) SELECT app_id, 'purchase', original_transaction_id FROM old_rows;
    END IF;
    RETURN NULL;
END $$;

-- A deleted signature of renewal info can change the figures of its subscription. A newer one mostly changes only its age.
CREATE OR REPLACE FUNCTION log_changed_signatures() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        INSERT INTO refresh_changed_keys (app_id, kind, key)
        SELECT DISTINCT app_id, 'purchase', record_key FROM old_rows WHERE kind = 'renewalInfo';
    ELSE
        INSERT INTO refresh_changed_keys (app_id, kind, key)
        SELECT DISTINCT app_id, 'again', record_key FROM new_rows WHERE kind = 'renewalInfo';
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION log_changed_refunds() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO refresh_changed_keys (app_id, kind, key)
        SELECT DISTINCT app_id, 'transaction', owner_key FROM new_rows WHERE owner_kind = 'transaction';
    END IF;
    IF TG_OP <> 'INSERT' THEN
        INSERT INTO refresh_changed_keys (app_id, kind, key)
        SELECT DISTINCT app_id, 'transaction', owner_key FROM old_rows WHERE owner_kind = 'transaction';
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION log_changed_notifications() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO refresh_changed_keys (app_id, kind, key)
        SELECT app_id, 'transaction', coalesce(transaction_id, notification_uuid) FROM new_rows
        UNION
        SELECT app_id, 'day', (signed_date AT TIME ZONE 'UTC')::date::text FROM new_rows;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        INSERT INTO refresh_changed_keys (app_id, kind, key)
        SELECT app_id, 'transaction', coalesce(transaction_id, notification_uuid) FROM old_rows
        UNION
        SELECT app_id, 'day', (signed_date AT TIME ZONE 'UTC')::date::text FROM old_rows;
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION log_changed_attempts() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO refresh_changed_keys (app_id, kind, key) SELECT DISTINCT app_id, 'notification', notification_uuid FROM new_rows;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        INSERT INTO refresh_changed_keys (app_id, kind, key) SELECT DISTINCT app_id, 'notification', notification_uuid FROM old_rows;
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION log_changed_products() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO refresh_changed_keys (app_id, kind, key) SELECT DISTINCT app_id, 'product', product_id FROM new_rows;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        INSERT INTO refresh_changed_keys (app_id, kind, key) SELECT DISTINCT app_id, 'product', product_id FROM old_rows;
    END IF;
    RETURN NULL;
END $$;

-- A trigger of TRUNCATE does not see the rows that are gone. So the next refresh computes everything again.
CREATE OR REPLACE FUNCTION log_truncated_table() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    UPDATE refresh_state SET definitions = NULL;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION log_truncated_table IS 'Makes the next refresh compute everything.';

DO $$
DECLARE
    logged record;
BEGIN
    FOR logged IN
        SELECT * FROM (VALUES ('transactions', 'log_changed_transactions'), ('renewals', 'log_changed_subscriptions'),
                              ('subscription_statuses', 'log_changed_statuses'), ('latest_signatures', 'log_changed_signatures'),
                              ('advanced_commerce_refunds', 'log_changed_refunds'), ('notifications', 'log_changed_notifications'),
                              ('notification_send_attempts', 'log_changed_attempts'), ('products', 'log_changed_products')) l (name, action)
    LOOP
        EXECUTE format('CREATE OR REPLACE TRIGGER log_inserted AFTER INSERT ON %I REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION %I()',
                       logged.name, logged.action);
        EXECUTE format('CREATE OR REPLACE TRIGGER log_updated AFTER UPDATE ON %I REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION %I()',
                       logged.name, logged.action);
        EXECUTE format('CREATE OR REPLACE TRIGGER log_deleted AFTER DELETE ON %I REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION %I()',
                       logged.name, logged.action);
        EXECUTE format('COMMENT ON FUNCTION %I() IS %L', logged.action, 'Appends the keys of changed rows to refresh_changed_keys.');
        EXECUTE format('CREATE OR REPLACE TRIGGER log_truncated AFTER TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION log_truncated_table()', logged.name);
    END LOOP;
END $$;

REVOKE EXECUTE ON FUNCTION log_changed_transactions, log_changed_subscriptions, log_changed_statuses, log_changed_signatures, log_changed_refunds, log_changed_notifications, log_changed_attempts, log_changed_products, log_truncated_table FROM PUBLIC;

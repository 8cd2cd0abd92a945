-- How does a row belong to an app that is there, without asking for the app at every row?
--
-- A foreign key asks for each row that is inserted: two thirds of the time it takes to load one, and a lock on the one
-- row of apps that all loaders share. Loaders take the number of an app and of a header from the tables themselves, once.
-- What is left to refuse is that somebody removes an app or a header that rows refer to; the triggers do that, and
-- runs, crawl_items and all the smaller tables keep their foreign keys.

ALTER TABLE transactions DROP CONSTRAINT transactions_app_id_fkey;
ALTER TABLE refunds DROP CONSTRAINT refunds_app_id_fkey;
ALTER TABLE renewals DROP CONSTRAINT renewals_app_id_fkey;
ALTER TABLE notifications DROP CONSTRAINT notifications_app_id_fkey;
ALTER TABLE notification_send_attempts DROP CONSTRAINT notification_send_attempts_app_id_fkey;
ALTER TABLE advanced_commerce_items DROP CONSTRAINT advanced_commerce_items_app_id_fkey;
ALTER TABLE advanced_commerce_refunds DROP CONSTRAINT advanced_commerce_refunds_app_id_fkey;
ALTER TABLE signed_payloads DROP CONSTRAINT signed_payloads_app_id_fkey;
ALTER TABLE signed_payloads DROP CONSTRAINT signed_payloads_app_id_header_id_fkey;

CREATE FUNCTION keep_apps_in_use() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF EXISTS (SELECT FROM transactions t WHERE t.app_id = OLD.app_id)
        OR EXISTS (SELECT FROM refunds t WHERE t.app_id = OLD.app_id)
        OR EXISTS (SELECT FROM renewals t WHERE t.app_id = OLD.app_id)
        OR EXISTS (SELECT FROM notifications t WHERE t.app_id = OLD.app_id)
        OR EXISTS (SELECT FROM notification_send_attempts t WHERE t.app_id = OLD.app_id)
        OR EXISTS (SELECT FROM advanced_commerce_items t WHERE t.app_id = OLD.app_id)
        OR EXISTS (SELECT FROM advanced_commerce_refunds t WHERE t.app_id = OLD.app_id)
        OR EXISTS (SELECT FROM signed_payloads t WHERE t.app_id = OLD.app_id)
    THEN
        RAISE foreign_key_violation USING MESSAGE = 'app ' || OLD.app_id || ' still has records';
    END IF;
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;
COMMENT ON FUNCTION keep_apps_in_use IS 'Refuses to remove or renumber an app that still has records.';
CREATE TRIGGER keep_apps_in_use BEFORE DELETE OR UPDATE OF app_id ON apps
    FOR EACH ROW EXECUTE FUNCTION keep_apps_in_use();

CREATE FUNCTION keep_headers_in_use() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    -- Any payload of the app will do: a loader may be about to use a header that nothing refers to yet.
    IF EXISTS (SELECT FROM signed_payloads p WHERE p.app_id = OLD.app_id) THEN
        RAISE foreign_key_violation USING MESSAGE = 'the raw archive still has payloads, and needs its signing headers';
    END IF;
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;
COMMENT ON FUNCTION keep_headers_in_use IS 'Refuses to remove or renumber signing headers while the archive has payloads.';
CREATE TRIGGER keep_headers_in_use BEFORE DELETE OR UPDATE OF app_id, header_id ON signing_headers
    FOR EACH ROW EXECUTE FUNCTION keep_headers_in_use();

CREATE FUNCTION keep_all_headers_in_use() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF EXISTS (SELECT FROM signed_payloads) THEN
        RAISE foreign_key_violation USING MESSAGE = 'the raw archive still has payloads, and needs its signing headers';
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION keep_all_headers_in_use IS 'Refuses to empty signing_headers while the archive has payloads.';
CREATE TRIGGER keep_all_headers_in_use BEFORE TRUNCATE ON signing_headers
    FOR EACH STATEMENT EXECUTE FUNCTION keep_all_headers_in_use();

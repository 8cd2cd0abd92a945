-- What refuses to delete or renumber a row that others refer to?
--
-- A foreign key would check each inserted row. These triggers check the rare deletion instead.

CREATE OR REPLACE FUNCTION keep_apps_in_use() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
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
COMMENT ON FUNCTION keep_apps_in_use IS 'Refuses to delete or renumber an app that still has records.';

CREATE OR REPLACE FUNCTION keep_headers_in_use() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    -- Any payload of the app will do: a loader may be about to use a header that nothing refers to yet.
    IF EXISTS (SELECT FROM signed_payloads p WHERE p.app_id = OLD.app_id) THEN
        RAISE foreign_key_violation USING MESSAGE = 'the raw archive still has payloads, and needs its signing headers';
    END IF;
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;
COMMENT ON FUNCTION keep_headers_in_use IS 'Refuses to delete or renumber signing headers while the archive contains payloads.';

CREATE OR REPLACE FUNCTION keep_all_headers_in_use() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF EXISTS (SELECT FROM signed_payloads) THEN
        RAISE foreign_key_violation USING MESSAGE = 'the raw archive still has payloads, and needs its signing headers';
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION keep_all_headers_in_use IS 'Refuses to empty signing_headers while the archive contains payloads.';

CREATE OR REPLACE TRIGGER keep_apps_in_use BEFORE DELETE OR UPDATE OF app_id ON apps
    FOR EACH ROW EXECUTE FUNCTION keep_apps_in_use();
CREATE OR REPLACE TRIGGER keep_headers_in_use BEFORE DELETE OR UPDATE OF app_id, header_id ON signing_headers
    FOR EACH ROW EXECUTE FUNCTION keep_headers_in_use();
CREATE OR REPLACE TRIGGER keep_all_headers_in_use BEFORE TRUNCATE ON signing_headers
    FOR EACH STATEMENT EXECUTE FUNCTION keep_all_headers_in_use();

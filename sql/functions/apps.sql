-- Which app do the records of a process belong to, and under which roots must they be signed?
--
-- A receiver faces the internet, so its role has no right to change apps. These functions add an app and fill in what is not known of
-- it, with the rights of the owner.

CREATE OR REPLACE FUNCTION app_has_records(p_app_id integer) RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    RETURN EXISTS (SELECT FROM transactions WHERE app_id = p_app_id)
        OR EXISTS (SELECT FROM notifications WHERE app_id = p_app_id)
        OR EXISTS (SELECT FROM crawl_items
                    WHERE app_id = p_app_id AND (page_seq > 0 OR cursor IS NOT NULL OR complete_until IS NOT NULL));
END $$;
COMMENT ON FUNCTION app_has_records IS 'Whether an app has records, or items with progress.';

CREATE OR REPLACE FUNCTION add_app(p_bundle_id text, p_environment text, p_app_apple_id bigint, p_trusted_roots text[]) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    found apps%ROWTYPE;
BEGIN
    INSERT INTO apps (bundle_id, environment) VALUES (p_bundle_id, p_environment) ON CONFLICT DO NOTHING;
    SELECT a.* INTO STRICT found FROM apps a WHERE a.bundle_id = p_bundle_id AND a.environment = p_environment FOR NO KEY UPDATE;
    UPDATE apps a SET app_apple_id = coalesce(a.app_apple_id, p_app_apple_id),
           trusted_roots = CASE WHEN p_trusted_roots IS NULL THEN a.trusted_roots
                                WHEN a.trusted_roots IS NULL OR NOT app_has_records(a.app_id) THEN p_trusted_roots
                                ELSE a.trusted_roots END
     WHERE a.app_id = found.app_id
       AND (a.app_apple_id IS NULL AND p_app_apple_id IS NOT NULL OR a.trusted_roots IS DISTINCT FROM p_trusted_roots);
    RETURN found.app_id;
END $$;
COMMENT ON FUNCTION add_app IS
    'Adds an app, or fills in what is not known of it, and returns its number. The roots of an app without records are replaced.';

REVOKE EXECUTE ON FUNCTION app_has_records, add_app FROM PUBLIC;

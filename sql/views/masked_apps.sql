-- Which app is behind an app_id?
--
-- Readers: loader, exporter, analyst.
CREATE OR REPLACE VIEW masked_apps WITH (security_barrier) AS
SELECT
    app_id, bundle_id, environment, app_apple_id, server, trusted_roots
FROM apps;
COMMENT ON VIEW masked_apps IS 'Apps for analysts: the rows of apps.';

-- Stores a field issue of a snapshot that was just written.
INSERT INTO field_issues AS i (app_id, kind, record_key, path, found, signed_date)
VALUES (:app, :kind, :record_key, :path, :found, :signed_date)
ON CONFLICT (app_id, kind, record_key, path) DO UPDATE SET
    last_seen_at = now(), found = excluded.found, signed_date = excluded.signed_date
 WHERE (excluded.signed_date >= i.signed_date OR i.signed_date IS NULL)
   AND (i.found, i.signed_date) IS DISTINCT FROM (excluded.found, excluded.signed_date)

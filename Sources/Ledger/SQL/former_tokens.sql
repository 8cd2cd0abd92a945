-- The archived payloads of those records of which another signature than that of the row has an account token.
SELECT p.payload FROM unnest(:keys::text[]) AS w (key), LATERAL (
    SELECT FROM quoted_ids q WHERE q.app_id = :app::integer AND q.owner_kind = :kind::text AND q.owner_key = w.key LIMIT 1) q,
    LATERAL (SELECT p.payload FROM signed_payloads p
              WHERE p.app_id = :app AND p.kind = :kind AND p.record_key = w.key OFFSET 0) p

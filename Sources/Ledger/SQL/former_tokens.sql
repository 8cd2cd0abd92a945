-- The archived payloads of records that have an account token in a signature other than the row's.
SELECT p.payload FROM unnest(:keys::text[]) AS w (key), LATERAL (
    SELECT FROM quoted_ids q WHERE q.app_id = :app::integer AND q.owner_kind = :kind::text AND q.owner_key = w.key LIMIT 1) q,
    LATERAL (SELECT p.payload FROM signed_payloads p
              WHERE p.app_id = :app AND p.kind = :kind AND p.record_key = w.key OFFSET 0) p

-- Stores the hashes of the IDs in a text; existing ones are kept.
INSERT INTO quoted_ids (app_id, owner_kind, owner_key, id_hash)
SELECT :app::integer, :owner_kind::text, :owner_key::text, w.hash FROM unnest(:hashes::text[]::bigint[]) AS w (hash)
 WHERE NOT EXISTS (SELECT FROM quoted_ids q
                    WHERE q.app_id = :app AND q.owner_kind = :owner_kind AND q.owner_key = :owner_key AND q.id_hash = w.hash)
ON CONFLICT DO NOTHING

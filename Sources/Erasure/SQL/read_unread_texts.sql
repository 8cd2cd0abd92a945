-- The next texts whose IDs are not stored yet: a rejected record with its detail, or an archived payload.
SELECT u.owner_kind, u.owner_key, convert_to(r.detail, 'UTF8') AS detail, coalesce(r.raw, p.payload) AS text
  FROM (SELECT owner_kind, owner_key FROM unread_texts WHERE app_id = :app::integer
         ORDER BY owner_kind, owner_key LIMIT :count::bigint) u
  LEFT JOIN rejected_records r
    ON r.app_id = :app AND r.record_id = CASE WHEN u.owner_kind = 'rejected' THEN u.owner_key::bigint END
  LEFT JOIN signed_payloads p ON p.app_id = :app AND p.kind = u.owner_kind AND p.record_key = u.owner_key

-- The next payloads of the archive of an app, in the order of its key.
--
-- :kind, :record_key, :signed_date and :digest are the key of the last payload of the previous batch.
SELECT kind, record_key, header_id, payload, signature, is_refund, signed_date, payload_sha256
  FROM signed_payloads
 WHERE app_id = :app AND (kind, record_key, signed_date, payload_sha256) > (:kind, :record_key, :signed_date, :digest)
 ORDER BY kind, record_key, signed_date, payload_sha256 LIMIT :count::bigint

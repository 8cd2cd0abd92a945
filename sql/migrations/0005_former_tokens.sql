-- Apple drops or changes a record's appAccountToken, and the archive keeps the signature with the former one. quoted_ids has it, so that an
-- erasure finds the record by any of its tokens.
ALTER TABLE quoted_ids DROP CONSTRAINT quoted_ids_owner_kind_check,
    ADD CHECK (owner_kind = ANY (ARRAY['rejected', 'notification', 'appTransaction', 'order', 'transaction', 'renewalInfo']));
ALTER TABLE unread_texts DROP CONSTRAINT unread_texts_owner_kind_check,
    ADD CHECK (owner_kind = ANY (ARRAY['rejected', 'notification', 'transaction', 'renewalInfo']));

-- The next erasure reads the records of which the archive has several contents, once.
INSERT INTO unread_texts (app_id, owner_kind, owner_key)
SELECT app_id, kind, record_key FROM signed_payloads WHERE kind IN ('transaction', 'renewalInfo')
 GROUP BY app_id, kind, record_key HAVING count(*) > 1;

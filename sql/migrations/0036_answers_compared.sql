-- How does StoreLedger decide whether an answer that Apple does not sign is newer than what Apple signed?
--
-- Each status comes with two signed records of its subscription. Their later signing date is by Apple's clock, as are the
-- dates of all other signed records. asked_at is by the database's clock, so comparing it needs an allowance, and within the
-- allowance a status would count instead of a newer signature. A row of an earlier version has no such date until the next
-- answer; asked_at is compared until then.
ALTER TABLE subscription_statuses ADD COLUMN records_signed_date timestamptz;
COMMENT ON COLUMN subscription_statuses.records_signed_date IS
    'The later signedDate of the two signed records of the newest answer. The status counts only while the ledger has no later signature of this subscription. NULL for an answer that an earlier version of StoreLedger stored.';

COMMENT ON COLUMN rejected_records.sha256 IS
    'SHA-256 of the whole text as received. For an answer that Apple does not sign: of its kind and key, because the records in it are signed again for each answer.';
COMMENT ON COLUMN rejected_records.detail IS 'What was found and what is expected, the last time the record was received.';

-- Which orders are a customer's? The links of order_transactions are those of the newest answer: none if Apple calls the order
-- invalid, or if the answer was rejected. quoted_ids keeps the transactions of every answer, so an erasure finds the order, its
-- item and its rejected records. id_hash is the beginning of a SHA-256, as for all texts.
ALTER TABLE quoted_ids DROP CONSTRAINT quoted_ids_owner_kind_check,
    ADD CONSTRAINT quoted_ids_owner_kind_check CHECK (owner_kind IN ('rejected', 'notification', 'appTransaction', 'order'));
COMMENT ON COLUMN quoted_ids.owner_kind IS
    'rejected: a row of rejected_records; notification: a notification without a transaction ID; appTransaction: an app transaction; order: the transactions that Apple has returned for an order.';
COMMENT ON COLUMN quoted_ids.owner_key IS 'record_id, notification_uuid, app_transaction_id or order_id.';
INSERT INTO quoted_ids (app_id, owner_kind, owner_key, id_hash)
SELECT app_id, 'order', order_id,
       ('x' || encode(substring(sha256(convert_to(transaction_id, 'UTF8')) FROM 1 FOR 8), 'hex'))::bit(64)::bigint
  FROM order_transactions
ON CONFLICT DO NOTHING;

-- Which subscriptions have left the statuses that a job requests? With a filter, Apple's answer lacks them, so the last status
-- that was stored would count for weeks.
ALTER TABLE subscription_statuses ADD COLUMN ended_at timestamptz;
COMMENT ON COLUMN subscription_statuses.ended_at IS
    'When Apple first answered without this subscription, although the request included its status: it no longer has the status. NULL while the newest answer has it. The views ignore the status then.';
COMMENT ON COLUMN subscription_statuses.asked_at IS
    'When Apple answered, by the database''s clock: with the status, or without the subscription (ended_at). The newest answer is kept.';

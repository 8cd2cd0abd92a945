-- Removes a customer from rows of actions. The result is the rows.
--
-- The rows stay, without input, so that the outcomes of a batch still add up. A row that was not sent is never sent. One that may have
-- been applied stays unknown, because nothing is left by which the outcome could be found out. A process that holds one of the rows
-- loses its lease. Without its salt a row is not compared with the plan any more, and its hash says nothing of the customer.
--
-- :customers  the customer's transaction IDs
UPDATE action_rows x SET input = '{}', parameters = NULL, subject = NULL, reason = NULL, apple_message = NULL,
       answer = NULL, confirmed_by = NULL, transaction_id_before = NULL, expires_date_before = NULL,
       consistency_token = NULL, request_reference_id_before = NULL, salt = NULL,
       state = CASE WHEN state IN ('planned', 'approved') THEN 'cancelled'
                    WHEN state IN ('sending', 'confirming') THEN 'unknown' ELSE state END,
       claimable_at = NULL, lease_owner = NULL, lease_epoch = lease_epoch + 1
  FROM (SELECT :app::integer AS app_id, k.key FROM unnest(:customers::text[]) AS k (key) OFFSET 0) w
 WHERE x.app_id = w.app_id AND x.subject = w.key RETURNING x.batch_id, x.position

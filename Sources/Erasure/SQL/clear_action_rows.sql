-- Removes a customer from rows of actions. The result is the rows.
--
-- The rows stay, without input, so that the outcomes of a batch still add up. A row that was not sent is never sent. One that may have
-- been applied stays unknown, because nothing is left by which the outcome could be found out. A process that holds one of the rows
-- loses its lease. Without its salt a row is not compared with the plan any more, and its hash says nothing of the customer.
--
-- The subject of a row about a seat is a member or a claim. The purchaser and the member are in its parameters. Any other cell can name the
-- customer too: a plan leaves such a row out.
--
-- :customers         the customer's transaction IDs
-- :app_transactions  the customer's app transaction IDs
-- :ids               all IDs of the customer
UPDATE action_rows x SET input = '{}', parameters = NULL, subject = NULL, reason = NULL, apple_message = NULL,
       answer = NULL, confirmed_by = NULL, transaction_id_before = NULL, expires_date_before = NULL,
       consistency_token = NULL, request_reference_id_before = NULL, salt = NULL,
       state = CASE WHEN state IN ('planned', 'approved') THEN 'cancelled'
                    WHEN state IN ('sending', 'confirming') THEN 'unknown' ELSE state END,
       claimable_at = NULL, lease_owner = NULL, lease_epoch = lease_epoch + 1
  FROM (SELECT f.* FROM unnest(:customers::text[]) AS k (key), LATERAL (
            SELECT r.app_id, r.batch_id, r.position FROM action_rows r WHERE r.app_id = :app::integer AND r.subject = k.key OFFSET 0) f
        UNION
        SELECT f.* FROM unnest(:customers) AS k (key), LATERAL (
            SELECT r.app_id, r.batch_id, r.position FROM action_rows r
             WHERE r.app_id = :app AND r.parameters ->> 'original_transaction_id' = k.key
               AND r.subject IS DISTINCT FROM r.parameters ->> 'original_transaction_id' OFFSET 0) f
        UNION
        SELECT f.* FROM unnest(:app_transactions::text[]) AS k (key), LATERAL (
            SELECT r.app_id, r.batch_id, r.position FROM action_rows r
             WHERE r.app_id = :app AND r.parameters ->> 'app_transaction_id' = k.key OFFSET 0) f
        UNION
        SELECT f.* FROM unnest(:ids::text[]) AS k (key), LATERAL (
            SELECT r.app_id, r.batch_id, r.position FROM action_rows r
             WHERE r.app_id = :app AND ids_in_cells(r.input) @> ARRAY[k.key]
               AND r.input <> '{}' AND r.input IS DISTINCT FROM ARRAY[r.subject] OFFSET 0) f
        OFFSET 0) w
 WHERE x.app_id = w.app_id AND x.batch_id = w.batch_id AND x.position = w.position RETURNING x.batch_id, x.position

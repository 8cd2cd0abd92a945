-- Removes the IDs of a customer from the further columns of input rows. Their other columns have IDs that the app has chosen, and tokens,
-- which cannot be traced to a customer.
--
-- :ids  all IDs of the customer
UPDATE action_input_rows i
   SET input = ARRAY(SELECT CASE WHEN ids_in_cells(ARRAY[c.cell]) && :ids::text[] THEN '' ELSE c.cell END
                       FROM unnest(i.input) WITH ORDINALITY c (cell, n) ORDER BY c.n)
 WHERE i.app_id = :app::integer AND i.input <> '{}' AND ids_in_cells(i.input) && :ids

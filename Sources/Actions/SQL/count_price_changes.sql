-- Which prices do the valid rows of a batch change, from what to what?
--
-- The old price is the item's price in the newest renewal info; NULL if the ledger does not know it. Only items of a price change have a price.
SELECT e.item ->> 'SKU' AS sku, coalesce(n.currency, r.parameters ->> 'currency') AS currency, o.price_milliunits AS old_price,
       (e.item ->> 'price')::bigint AS new_price, count(*) AS rows
  FROM action_rows r
  CROSS JOIN LATERAL jsonb_array_elements(r.parameters -> 'items') AS e (item)
  LEFT JOIN renewals n ON n.app_id = r.app_id AND n.original_transaction_id = r.subject
  LEFT JOIN LATERAL (
      SELECT o.price_milliunits FROM advanced_commerce_items o
       WHERE o.app_id = r.app_id AND o.owner_kind = 'renewal' AND o.owner_key = r.subject AND o.sku = e.item ->> 'SKU'
       ORDER BY o.position LIMIT 1
  ) o ON true
 WHERE r.app_id = :app AND r.batch_id = :batch AND r.verdict = 'valid' AND e.item ? 'price'
 GROUP BY 1, 2, 3, 4 ORDER BY 5 DESC, 1, 2, 3, 4

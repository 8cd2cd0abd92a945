-- For how many valid rows of a batch of price changes does Apple ask the customer for consent?
--
-- Apple asks when the price of an item rises by more than a half and by more than 5 US dollars a period, or 50 for a year, and when it
-- rises a second time within 12 months. Source: Handling subscription price changes, Advanced Commerce API, read 2026-11. In another
-- currency Apple's exchange rate decides, so a rise by more than a half is unknown there. Apple also asks in regions where the law
-- requires it, which the ledger does not know.
WITH items AS (
    SELECT r.position, t.currency, t.advanced_commerce_period = 'P1Y' AS is_yearly,
           (e.item ->> 'price')::bigint AS new_price, o.price_milliunits AS old_price,
           EXISTS (SELECT FROM transactions x JOIN advanced_commerce_items i ON i.app_id = x.app_id AND i.owner_kind = 'transaction'
                                                                           AND i.owner_key = x.transaction_id
                    WHERE x.app_id = r.app_id AND x.original_transaction_id = r.subject AND i.sku = e.item ->> 'SKU'
                      AND i.price_milliunits < o.price_milliunits AND x.expires_date > now() - interval '12 months') AS rose_recently
      FROM action_rows r
      CROSS JOIN LATERAL jsonb_array_elements(r.parameters -> 'items') AS e (item)
      LEFT JOIN transactions t ON t.app_id = r.app_id AND t.transaction_id = r.transaction_id_before
      LEFT JOIN LATERAL (
          SELECT o.price_milliunits FROM advanced_commerce_items o
           WHERE o.app_id = r.app_id AND o.owner_kind = 'renewal' AND o.owner_key = r.subject AND o.sku = e.item ->> 'SKU'
           ORDER BY o.position LIMIT 1
      ) o ON true
     WHERE r.app_id = :app AND r.batch_id = :batch AND r.verdict = 'valid'
), judged AS (
    SELECT position,
           CASE WHEN old_price IS NULL THEN NULL
                WHEN new_price <= old_price THEN false
                WHEN rose_recently THEN true
                WHEN (new_price - old_price) * 2 <= old_price THEN false
                WHEN currency = 'USD' THEN new_price - old_price > CASE WHEN is_yearly THEN 50000 ELSE 5000 END
                END AS is_asked
      FROM items
), asked AS (
    -- One item is enough to ask; one that is not known leaves the row unknown.
    SELECT position, CASE WHEN bool_or(is_asked) THEN true WHEN bool_and(is_asked IS NOT NULL) THEN false END AS is_asked
      FROM judged GROUP BY position
)
SELECT count(*) FILTER (WHERE is_asked) AS required, count(*) FILTER (WHERE NOT is_asked) AS not_required,
       count(*) FILTER (WHERE is_asked IS NULL) AS unknown
  FROM asked

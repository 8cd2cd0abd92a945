-- The items that a run has left, for each of :streams, and the customers that it found in notifications.
SELECT planned.stream, count(i.item_key) AS items, (SELECT listed_ids FROM runs WHERE app_id = :app AND run_id = :run) AS customers
  FROM unnest(:streams::text[]) AS planned (stream)
  LEFT JOIN crawl_items i ON i.app_id = :app AND i.job = :job AND i.run_id = :run AND i.stream = planned.stream
                         AND i.claimable_at IS NOT NULL
 GROUP BY planned.stream

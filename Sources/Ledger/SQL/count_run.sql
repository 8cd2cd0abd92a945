-- The counts of a run, from its items.
SELECT count(*) AS items, count(*) FILTER (WHERE state = 'done') AS done,
       count(*) FILTER (WHERE state = 'failed') AS failed,
       coalesce(sum(page_count), 0) AS pages, coalesce(sum(request_count), 0) AS requests,
       coalesce(sum(rows_new), 0) AS rows_new, coalesce(sum(rows_updated), 0) AS rows_updated,
       coalesce(sum(rows_unchanged), 0) AS rows_unchanged, coalesce(sum(records_rejected), 0) AS rejected,
       coalesce(sum(records_withheld), 0) AS withheld,
       (SELECT count(*) FROM coverage_gaps WHERE app_id = :app AND job = :job AND run_id = :run) AS gaps,
       (SELECT withheld_ids FROM runs WHERE app_id = :app AND run_id = :run) AS withheld_ids,
       (SELECT listed_ids FROM runs WHERE app_id = :app AND run_id = :run) AS listed_ids,
       (SELECT empty_lists FROM runs WHERE app_id = :app AND run_id = :run) AS empty_lists,
       (SELECT unreadable_receipts FROM runs WHERE app_id = :app AND run_id = :run) AS unreadable_receipts
  FROM crawl_items WHERE app_id = :app AND job = :job AND run_id = :run

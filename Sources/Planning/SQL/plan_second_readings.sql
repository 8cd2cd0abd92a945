-- Plans one item for each closed day that is due for its second reading, once per day, filters and job.
INSERT INTO crawl_items
    (app_id, job, stream, item_key, run_id, state, claimable_at, fingerprint, window_start, window_end)
SELECT :app, :job, :stream, due.item_key, :run, 'waiting', clock_timestamp(), :filters, due.window_start, due.window_end
  FROM (:due_days) due
ON CONFLICT (app_id, job, stream, item_key) DO NOTHING

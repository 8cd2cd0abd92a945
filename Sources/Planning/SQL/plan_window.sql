-- Plans a window of notifications. A window that exists is read again from its first page.
INSERT INTO crawl_items AS i
    (app_id, job, stream, item_key, run_id, state, claimable_at, fingerprint, window_start, window_end)
VALUES (:app, :job, :stream, :item_key, :run, 'waiting', clock_timestamp(), :filters, :starts_at, :ends_at)
ON CONFLICT (app_id, job, stream, item_key) DO UPDATE SET
    run_id = excluded.run_id, :reset_to_waiting, cursor = NULL, window_start = excluded.window_start

-- The end of the last window with these filters; NULL if there is none.
--
-- Windows of days that are read again end earlier, so they do not affect the maximum.
SELECT max(window_end) AS last_end FROM crawl_items
 WHERE app_id = :app AND job = :job AND stream = :stream AND fingerprint = :filters

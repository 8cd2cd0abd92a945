-- The number of failed items that a retry would request.
SELECT count(*) AS items FROM crawl_items WHERE :is_retryable

-- A part of statements: assignments that make an item available again, with zero counts. An existing lease ends.
state = 'waiting', claimable_at = clock_timestamp(), lease_owner = NULL, page_count = 0, request_count = 0,
rows_new = 0, rows_updated = 0, rows_unchanged = 0, records_rejected = 0, records_withheld = 0, restarts = 0, deferrals = 0,
error_code = NULL, error_message = NULL, finished_at = NULL

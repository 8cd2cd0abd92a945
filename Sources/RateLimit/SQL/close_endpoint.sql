-- Closes an endpoint for all workers for a time.
SELECT rate_close(:app::integer, :endpoint::text, :wait_milliseconds::bigint * interval '1 millisecond',
    :window_milliseconds::bigint * interval '1 millisecond')

-- Takes up to :count requests from the budget of an endpoint. functions/rate_limit.sql describes the algorithm and its guarantee.
--
-- :budget               requests in every rolling window
-- :window_milliseconds  the length of the window
-- :grant_milliseconds   how long a granted request may wait until it is sent
-- :flight_milliseconds  how long a request may be on its way to Apple
SELECT granted, wait_ms, reason, clock_timestamp() AS clock,
       CASE WHEN reason = 'clock'
            THEN (SELECT last_now FROM rate_scopes WHERE app_id = :app AND endpoint = :endpoint) END AS latest
  FROM rate_take(:app::integer, :endpoint::text, :count::integer, :budget::integer,
    :window_milliseconds::bigint * interval '1 millisecond', :grant_milliseconds::bigint * interval '1 millisecond',
    :flight_milliseconds::bigint * interval '1 millisecond')

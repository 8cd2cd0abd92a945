-- How many requests of Apple's hourly limits may leave now?

-- Identifies the server, its timeline and the database. It changes with a promotion, a point-in-time recovery, and a dump that is
-- loaded elsewhere, but not with a restart or a cold copy of the files.
CREATE OR REPLACE FUNCTION ledger_server() RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    timeline text;
BEGIN
    -- Some servers, such as Aurora PostgreSQL, have no functions about WAL.
    BEGIN
        timeline := left(pg_walfile_name(pg_current_wal_lsn()), 8);
    EXCEPTION WHEN object_not_in_prerequisite_state OR feature_not_supported THEN
        timeline := NULL;
    END;
    RETURN concat_ws('/', (SELECT c.system_identifier FROM pg_control_system() c), timeline,
                     (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()));
END $$;
COMMENT ON FUNCTION ledger_server IS
    'Returns the system identifier, timeline and database. If they differ, the rows here can be older than the permits already granted.';
ALTER TABLE rate_scopes ALTER COLUMN server SET DEFAULT ledger_server();
ALTER TABLE change_exports ALTER COLUMN server SET DEFAULT ledger_server();

-- The part of its pace that a job may use at t: 1, or less after a 429.
--
-- The pace of a job is its budget (p_budget requests in each p_window), spread evenly. If Apple answers 429 although the ledger stayed within the
-- budget, other programs use the same limit, such as the app's own servers. They have priority, so the jobs slow down.
CREATE OR REPLACE FUNCTION rate_share(scope rate_scopes, t timestamptz, p_window interval) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN scope.share >= 1 THEN 1
                ELSE least(1, scope.share + 0.05 * floor(greatest(0, extract(epoch FROM t - scope.share_at)::float8
                                                                     * 6 / extract(epoch FROM p_window)::float8))) END
$$;
COMMENT ON FUNCTION rate_share IS 'Returns the part of the pace that a job may use, 0.05 to 1. Every 429 halves it; each sixth of a window restores 0.05.';

-- Grants up to p_want requests, or says how long to wait.
--
-- Promise: in every rolling p_window no more than p_budget granted requests reach Apple, whatever crashes,
-- if a grant is used within p_life of asking and a request is given up after p_flight. A grant therefore
-- counts until its bucket's end is older than p_window + p_life + p_flight.
-- Lock first, then read the clock: now() would be the moment before the wait for the lock.
CREATE OR REPLACE FUNCTION rate_take(
    p_app_id integer, p_endpoint text, p_want integer, p_budget integer,
    p_window interval, p_life interval, p_flight interval,
    OUT granted integer, OUT wait_ms bigint, OUT reason text
) LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    scope   rate_scopes;
    clock   timestamptz;
    t       timestamptz;
    used    bigint;
    lost    bigint := 0;
    width   interval := p_window / 3600;
    unit    interval := p_window / greatest(p_budget, 1);
    horizon interval := p_window + p_life + p_flight;
    paced   bigint;
    -- How far the clocks of two servers, or of Apple and a server, may differ.
    slack   interval := interval '60 seconds';
BEGIN
    SELECT * INTO scope FROM rate_scopes s
     WHERE s.app_id = p_app_id AND s.endpoint = p_endpoint FOR UPDATE;
    IF NOT FOUND THEN
        INSERT INTO rate_scopes (app_id, endpoint) VALUES (p_app_id, p_endpoint) ON CONFLICT DO NOTHING;
        SELECT * INTO STRICT scope FROM rate_scopes s
         WHERE s.app_id = p_app_id AND s.endpoint = p_endpoint FOR UPDATE;
    END IF;
    clock := clock_timestamp();
    -- A run against the simulator can have a shorter window. It must not remove buckets that another job still counts.
    scope.kept_for := greatest(scope.kept_for, horizon + width);
    -- The shortest time between two requests of any job: the fastest pace.
    scope.least_unit := least(scope.least_unit, unit);

    -- The server is not the one of the last call. Everything that the pace allowed since the newest row here may have been
    -- granted, and counts as granted now: a few percent of the hour after a promotion in the middle of a run. After an hour
    -- without requests, or a restored backup, it is all of it, and nothing is granted for one window.
    IF scope.server IS DISTINCT FROM ledger_server() THEN
        IF scope.server IS NOT NULL AND scope.last_now > '-infinity' THEN
            lost := least(
                ceil(extract(epoch FROM scope.kept_for) / extract(epoch FROM scope.least_unit)),
                CASE WHEN clock < scope.last_now - slack THEN 'infinity'::float8
                     ELSE 1 + ceil(extract(epoch FROM greatest(clock, scope.last_now) - scope.last_now + slack)
                                   / extract(epoch FROM scope.least_unit)) END);
        END IF;
        scope.server := ledger_server();
    END IF;

    -- The ledger's time never goes back, unless the clock was ahead by more than the horizon. Then what was granted in
    -- that future counts as granted now.
    IF scope.last_now > clock + horizon THEN
        WITH ahead AS (
            DELETE FROM rate_buckets b WHERE b.app_id = p_app_id AND b.endpoint = p_endpoint RETURNING b.granted
        ) SELECT lost + coalesce(sum(ahead.granted), 0) INTO lost FROM ahead;
        scope.closed_until := scope.closed_until - (scope.last_now - clock);
        scope.share_at := scope.share_at - (scope.last_now - clock);
        scope.last_now := clock;
        scope.next_at := clock;
    END IF;
    t := greatest(clock, scope.last_now);
    IF lost > 0 THEN
        INSERT INTO rate_buckets AS b VALUES
            (p_app_id, p_endpoint, date_bin(width, t, timestamptz '2000-01-01 00:00:00+00'), lost)
        ON CONFLICT (app_id, endpoint, bucket) DO UPDATE SET granted = b.granted + excluded.granted;
    END IF;
    granted := 0;

    IF scope.closed_until > t THEN
        reason := 'closed';
        wait_ms := ceil(extract(epoch FROM scope.closed_until - t) * 1000);
    ELSIF clock < scope.last_now THEN
        -- The clock was set back. A request that is granted now would get a bucket in the past, and would not be counted long enough.
        reason := 'clock';
        wait_ms := greatest(1, least(60000, ceil(extract(epoch FROM scope.last_now - clock) * 1000)));
    ELSE
        DELETE FROM rate_buckets b
         WHERE b.app_id = p_app_id AND b.endpoint = p_endpoint AND b.bucket <= t - scope.kept_for;
        SELECT coalesce(sum(b.granted), 0) INTO used FROM rate_buckets b
         WHERE b.app_id = p_app_id AND b.endpoint = p_endpoint AND b.bucket > t - horizon - width;

        -- A unit is the time between two requests at an even pace. After a rest, at most the requests of 200 milliseconds are granted at once.
        unit := unit / rate_share(scope, t, p_window);
        scope.next_at := greatest(scope.next_at, t - interval '200 milliseconds');
        paced := CASE WHEN scope.next_at > t THEN 0
                      ELSE 1 + floor(extract(epoch FROM t - scope.next_at) / extract(epoch FROM unit))::bigint END;
        granted := greatest(0, least(p_want, p_budget - used, paced));

        IF granted > 0 THEN
            INSERT INTO rate_buckets AS b VALUES
                (p_app_id, p_endpoint, date_bin(width, t, timestamptz '2000-01-01 00:00:00+00'), granted)
            ON CONFLICT (app_id, endpoint, bucket) DO UPDATE SET granted = b.granted + excluded.granted;
            scope.next_at := scope.next_at + granted * unit;
            wait_ms := 0;
        ELSIF used >= p_budget THEN
            reason := 'budget';
            SELECT ceil(extract(epoch FROM min(b.bucket) + width + horizon - t) * 1000) INTO wait_ms
              FROM rate_buckets b
             WHERE b.app_id = p_app_id AND b.endpoint = p_endpoint AND b.bucket > t - horizon - width;
            wait_ms := coalesce(wait_ms, ceil(extract(epoch FROM p_window) * 1000));
        ELSE
            reason := 'pace';
            wait_ms := greatest(1, least(60000, ceil(extract(epoch FROM scope.next_at - t) * 1000)));
        END IF;
    END IF;
    UPDATE rate_scopes s
       SET last_now = t, next_at = scope.next_at, kept_for = scope.kept_for, closed_until = scope.closed_until,
           server = scope.server, least_unit = scope.least_unit, share_at = scope.share_at
     WHERE s.app_id = p_app_id AND s.endpoint = p_endpoint;
END $$;
COMMENT ON FUNCTION rate_take IS 'Takes requests from an endpoint''s budget before they are sent, or returns the time to wait.';

-- Closes an endpoint for everybody: Apple answered 429.
CREATE OR REPLACE FUNCTION rate_close(p_app_id integer, p_endpoint text, p_wait interval, p_window interval) RETURNS void
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    scope rate_scopes;
    t     timestamptz;
BEGIN
    INSERT INTO rate_scopes (app_id, endpoint) VALUES (p_app_id, p_endpoint) ON CONFLICT DO NOTHING;
    SELECT * INTO STRICT scope FROM rate_scopes s
     WHERE s.app_id = p_app_id AND s.endpoint = p_endpoint FOR UPDATE;
    t := greatest(clock_timestamp(), scope.last_now);
    -- Requests that were on their way when the endpoint closed are answered 429 as well, and say nothing new.
    IF scope.closed_until <= t THEN
        scope.share := greatest(0.05, rate_share(scope, t, p_window) / 2);
        scope.share_at := t;
    END IF;
    UPDATE rate_scopes s
       SET closed_until = greatest(scope.closed_until, t + p_wait), share = scope.share, share_at = scope.share_at
     WHERE s.app_id = p_app_id AND s.endpoint = p_endpoint;
END $$;
COMMENT ON FUNCTION rate_close IS 'Closes an endpoint to every process for the given time and halves the pace that follows.';

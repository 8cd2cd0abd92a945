-- How far is each crawl, who works on it, and how much of Apple's hourly limit is spent?
-- Rows, cursors, leases and the spent budget live in one database and commit together.

CREATE TABLE runs (
    app_id          integer     NOT NULL REFERENCES apps,
    run_id          bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    job             text        NOT NULL,
    fingerprint     text        NOT NULL,
    phase           smallint    NOT NULL DEFAULT 1,
    frozen_now      timestamptz NOT NULL,
    started_at      timestamptz NOT NULL DEFAULT now(),
    finished_at     timestamptz,
    exit_code       integer,
    message         text,
    version         text        NOT NULL,
    restarted       boolean     NOT NULL DEFAULT false,
    listed_ids      bigint      NOT NULL DEFAULT 0,
    duplicate_ids   bigint      NOT NULL DEFAULT 0,
    items           bigint      NOT NULL DEFAULT 0,
    items_failed    bigint      NOT NULL DEFAULT 0,
    pages           bigint      NOT NULL DEFAULT 0,
    requests        bigint      NOT NULL DEFAULT 0,
    rows_new        bigint      NOT NULL DEFAULT 0,
    rows_updated    bigint      NOT NULL DEFAULT 0,
    rows_unchanged  bigint      NOT NULL DEFAULT 0,
    records_rejected bigint     NOT NULL DEFAULT 0,
    gaps            bigint      NOT NULL DEFAULT 0,
    PRIMARY KEY (app_id, run_id)
);
-- One unfinished run a job: a second process joins it instead of beginning another.
CREATE UNIQUE INDEX runs_unfinished ON runs (app_id, job) WHERE finished_at IS NULL;
CREATE INDEX runs_by_job ON runs (app_id, job, run_id);

COMMENT ON TABLE runs IS 'One row per run of a job, by however many processes: when, with what result, and how much.';
COMMENT ON COLUMN runs.app_id IS 'The app; see apps.';
COMMENT ON COLUMN runs.run_id IS 'Grows with every run of any job.';
COMMENT ON COLUMN runs.job IS 'The name in the job file.';
COMMENT ON COLUMN runs.fingerprint IS 'SHA-256 of the job''s streams, filters and source of IDs when the run began; another one supersedes an unfinished run.';
COMMENT ON COLUMN runs.phase IS '1: histories and notifications; 2: refunds of the customers in whose history a revocation was seen.';
COMMENT ON COLUMN runs.frozen_now IS 'The moment that "now" in the job file means for this run.';
COMMENT ON COLUMN runs.started_at IS 'When the first process began the run.';
COMMENT ON COLUMN runs.finished_at IS 'When every item had reached its end, or another run took its place; NULL while work is left.';
COMMENT ON COLUMN runs.exit_code IS 'Exit code of the process that last worked on the run; see the README.';
COMMENT ON COLUMN runs.message IS 'Why a run stopped with work left, in one sentence.';
COMMENT ON COLUMN runs.version IS 'Version of storeledger that began the run.';
COMMENT ON COLUMN runs.restarted IS 'Whether the run was begun with --restart.';
COMMENT ON COLUMN runs.listed_ids IS 'Distinct transaction IDs the job listed when the run began.';
COMMENT ON COLUMN runs.duplicate_ids IS 'Listed IDs that were there already and were dropped.';
COMMENT ON COLUMN runs.items IS 'Work items of the run, as last counted.';
COMMENT ON COLUMN runs.items_failed IS 'Items that ended with an error, as last counted.';
COMMENT ON COLUMN runs.pages IS 'Pages committed, as last counted.';
COMMENT ON COLUMN runs.requests IS 'Requests sent for committed pages and finished items, retries included, as last counted.';
COMMENT ON COLUMN runs.rows_new IS 'Records that were not in the ledger before.';
COMMENT ON COLUMN runs.rows_updated IS 'Records that replaced an older snapshot.';
COMMENT ON COLUMN runs.rows_unchanged IS 'Records the ledger held already, or held newer.';
COMMENT ON COLUMN runs.records_rejected IS 'Records that went to rejected_records instead of a table.';
COMMENT ON COLUMN runs.gaps IS 'Stretches of time the run found that Apple can no longer serve.';

CREATE TABLE crawl_items (
    app_id            integer     NOT NULL REFERENCES apps,
    job               text        NOT NULL,
    stream            text        NOT NULL,
    item_key          text        NOT NULL,
    run_id            bigint      NOT NULL,
    state             text        NOT NULL CHECK (state IN ('waiting', 'leased', 'done', 'failed')),
    claimable_at      timestamptz,
    lease_owner       uuid,
    lease_epoch       bigint      NOT NULL DEFAULT 0,
    fingerprint       text        NOT NULL,
    window_start      timestamptz,
    window_end        timestamptz,
    cursor            text,
    page_seq          bigint      NOT NULL DEFAULT 0,
    complete_until    timestamptz,
    saw_revocation    boolean     NOT NULL DEFAULT false,
    other_environment text,
    page_count        integer     NOT NULL DEFAULT 0,
    request_count     integer     NOT NULL DEFAULT 0,
    rows_new          integer     NOT NULL DEFAULT 0,
    rows_updated      integer     NOT NULL DEFAULT 0,
    rows_unchanged    integer     NOT NULL DEFAULT 0,
    records_rejected  integer     NOT NULL DEFAULT 0,
    restarts          integer     NOT NULL DEFAULT 0,
    deferrals         integer     NOT NULL DEFAULT 0,
    error_code        bigint,
    error_message     text,
    finished_at       timestamptz,
    PRIMARY KEY (app_id, job, stream, item_key),
    CHECK ((state IN ('waiting', 'leased')) = (claimable_at IS NOT NULL))
);
CREATE INDEX crawl_items_claimable ON crawl_items (app_id, job, stream, claimable_at, item_key)
    WHERE claimable_at IS NOT NULL;
CREATE INDEX crawl_items_leases ON crawl_items (app_id, lease_owner) WHERE lease_owner IS NOT NULL;
CREATE INDEX crawl_items_failed ON crawl_items (app_id, job, run_id) WHERE state = 'failed';
CREATE INDEX crawl_items_revoked ON crawl_items (app_id, job) WHERE saw_revocation;

COMMENT ON TABLE crawl_items IS 'One row per job, stream and transaction ID or date window: how far its crawl is and who holds it.';
COMMENT ON COLUMN crawl_items.app_id IS 'The app; see apps.';
COMMENT ON COLUMN crawl_items.job IS 'The name in the job file; cursors belong to a job.';
COMMENT ON COLUMN crawl_items.stream IS 'transactionHistory, refundHistory or notificationHistory.';
COMMENT ON COLUMN crawl_items.item_key IS 'The transaction ID; or, for the notifications of the whole app, the window as two UNIX milliseconds with ".." between, and a mark of its filters.';
COMMENT ON COLUMN crawl_items.run_id IS 'The last run that had this item to do.';
COMMENT ON COLUMN crawl_items.state IS 'waiting, leased, done or failed; done and failed are for the run in run_id.';
COMMENT ON COLUMN crawl_items.claimable_at IS 'When a worker may take the item: at once, after a deferral, or when the present lease runs out; NULL when it has reached its end.';
COMMENT ON COLUMN crawl_items.lease_owner IS 'The process that holds the item.';
COMMENT ON COLUMN crawl_items.lease_epoch IS 'Grows with every lease and is never reset; a commit of an older epoch changes nothing.';
COMMENT ON COLUMN crawl_items.fingerprint IS 'The filters the cursor belongs to; with other filters the item starts again.';
COMMENT ON COLUMN crawl_items.window_start IS 'Notifications: startDate, frozen when the run began.';
COMMENT ON COLUMN crawl_items.window_end IS 'Notifications: endDate, frozen when the run began.';
COMMENT ON COLUMN crawl_items.cursor IS 'Apple''s revision or paginationToken after the last committed page; a finished history keeps it for the next run.';
COMMENT ON COLUMN crawl_items.page_seq IS 'Pages ever committed for this item; only grows, and tells whether a COMMIT with a lost answer took place.';
COMMENT ON COLUMN crawl_items.complete_until IS 'Everything Apple had up to this moment, and the filters admit, is in the ledger.';
COMMENT ON COLUMN crawl_items.saw_revocation IS 'Whether a revoked transaction or a REFUND notification was ever among its records.';
COMMENT ON COLUMN crawl_items.other_environment IS 'Sandbox when Apple''s production did not know the ID and the job allows the sandbox to be tried.';
COMMENT ON COLUMN crawl_items.page_count IS 'Pages committed in this run.';
COMMENT ON COLUMN crawl_items.request_count IS 'Requests sent in this run, retries included; those of a killed process are missing.';
COMMENT ON COLUMN crawl_items.rows_new IS 'Records new to the ledger in this run.';
COMMENT ON COLUMN crawl_items.rows_updated IS 'Records that replaced an older snapshot in this run.';
COMMENT ON COLUMN crawl_items.rows_unchanged IS 'Records the ledger held already in this run.';
COMMENT ON COLUMN crawl_items.records_rejected IS 'Records rejected in this run.';
COMMENT ON COLUMN crawl_items.restarts IS 'How often in this run Apple refused the cursor and the item began again.';
COMMENT ON COLUMN crawl_items.deferrals IS 'How often in this run the item was put off after failing requests.';
COMMENT ON COLUMN crawl_items.error_code IS 'Apple''s errorCode, or the HTTP status where there was none.';
COMMENT ON COLUMN crawl_items.error_message IS 'Why the item failed or was put off.';
COMMENT ON COLUMN crawl_items.finished_at IS 'When it last reached its end.';

CREATE TABLE coverage_gaps (
    app_id    integer     NOT NULL REFERENCES apps,
    job       text        NOT NULL,
    stream    text        NOT NULL,
    item_key  text        NOT NULL,
    gap_start timestamptz NOT NULL,
    gap_end   timestamptz NOT NULL,
    reason    text        NOT NULL,
    run_id    bigint      NOT NULL,
    found_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app_id, job, stream, item_key, gap_start)
);

COMMENT ON TABLE coverage_gaps IS 'Stretches of time a job asked for that Apple no longer serves.';
COMMENT ON COLUMN coverage_gaps.app_id IS 'The app; see apps.';
COMMENT ON COLUMN coverage_gaps.job IS 'The name in the job file.';
COMMENT ON COLUMN coverage_gaps.stream IS 'The history that has the gap.';
COMMENT ON COLUMN coverage_gaps.item_key IS 'The transaction ID or window; or "app" for the notifications of the whole app.';
COMMENT ON COLUMN coverage_gaps.gap_start IS 'From when records are missing.';
COMMENT ON COLUMN coverage_gaps.gap_end IS 'Until when records are missing.';
COMMENT ON COLUMN coverage_gaps.reason IS 'Why, in one sentence.';
COMMENT ON COLUMN coverage_gaps.run_id IS 'The run that found it.';
COMMENT ON COLUMN coverage_gaps.found_at IS 'When it was found.';

CREATE TABLE rate_scopes (
    app_id       integer     NOT NULL REFERENCES apps,
    endpoint     text        NOT NULL,
    closed_until timestamptz NOT NULL DEFAULT '-infinity',
    last_now     timestamptz NOT NULL DEFAULT '-infinity',
    next_at      timestamptz NOT NULL DEFAULT '-infinity',
    kept_for     interval    NOT NULL DEFAULT '0',
    PRIMARY KEY (app_id, endpoint)
);

COMMENT ON TABLE rate_scopes IS 'One row per app and endpoint: the gate every request of every machine passes.';
COMMENT ON COLUMN rate_scopes.app_id IS 'The app; see apps.';
COMMENT ON COLUMN rate_scopes.endpoint IS 'transactionHistory, refundHistory or notificationHistory.';
COMMENT ON COLUMN rate_scopes.closed_until IS 'Apple answered 429: nobody sends before this moment.';
COMMENT ON COLUMN rate_scopes.last_now IS 'The latest clock reading used; the ledger''s time never goes back.';
COMMENT ON COLUMN rate_scopes.next_at IS 'When the next request may go at an even pace.';
COMMENT ON COLUMN rate_scopes.kept_for IS 'How long buckets are kept: the longest window any job ever asked with, and its margin.';

CREATE TABLE rate_buckets (
    app_id   integer     NOT NULL,
    endpoint text        NOT NULL,
    bucket   timestamptz NOT NULL,
    granted  integer     NOT NULL CHECK (granted > 0),
    PRIMARY KEY (app_id, endpoint, bucket),
    FOREIGN KEY (app_id, endpoint) REFERENCES rate_scopes
);

COMMENT ON TABLE rate_buckets IS 'Requests granted in each 1/3600 of the window: the sliding ledger of the hourly limit.';
COMMENT ON COLUMN rate_buckets.app_id IS 'The app; see apps.';
COMMENT ON COLUMN rate_buckets.endpoint IS 'See rate_scopes.';
COMMENT ON COLUMN rate_buckets.bucket IS 'When the bucket begins.';
COMMENT ON COLUMN rate_buckets.granted IS 'Requests granted in it, whether or not they were sent.';

-- Grants up to p_want requests, or says how long to wait.
--
-- Promise: in every rolling p_window no more than p_budget granted requests reach Apple, whatever crashes,
-- if a grant is used within p_life of asking and a request is given up after p_flight. A grant therefore
-- counts until its bucket's end is older than p_window + p_life + p_flight.
-- Lock first, then read the clock: now() would be the moment before the wait for the lock.
CREATE FUNCTION rate_take(
    p_app_id integer, p_endpoint text, p_want integer, p_budget integer,
    p_window interval, p_life interval, p_flight interval,
    OUT granted integer, OUT wait_ms bigint, OUT reason text
) LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    scope   rate_scopes;
    t       timestamptz;
    used    bigint;
    width   interval := p_window / 3600;
    unit    interval := p_window / greatest(p_budget, 1);
    horizon interval := p_window + p_life + p_flight;
    paced   bigint;
BEGIN
    SELECT * INTO scope FROM rate_scopes s
     WHERE s.app_id = p_app_id AND s.endpoint = p_endpoint FOR UPDATE;
    IF NOT FOUND THEN
        INSERT INTO rate_scopes (app_id, endpoint) VALUES (p_app_id, p_endpoint) ON CONFLICT DO NOTHING;
        SELECT * INTO STRICT scope FROM rate_scopes s
         WHERE s.app_id = p_app_id AND s.endpoint = p_endpoint FOR UPDATE;
    END IF;
    -- The ledger's time never goes back. But a clock that was ahead by more than the whole horizon was wrong: what was
    -- granted in that future counts from now on, and time goes on from here.
    IF scope.last_now > clock_timestamp() + horizon THEN
        WITH ahead AS (
            DELETE FROM rate_buckets b WHERE b.app_id = p_app_id AND b.endpoint = p_endpoint RETURNING b.granted
        ) SELECT coalesce(sum(ahead.granted), 0) INTO used FROM ahead;
        scope.last_now := clock_timestamp();
        scope.next_at := scope.last_now;
        IF used > 0 THEN
            INSERT INTO rate_buckets VALUES
                (p_app_id, p_endpoint, date_bin(width, scope.last_now, timestamptz '2000-01-01 00:00:00+00'), used);
        END IF;
    END IF;
    t := greatest(clock_timestamp(), scope.last_now);
    granted := 0;
    -- A rehearsal with a short window must not forget what another job still counts.
    scope.kept_for := greatest(scope.kept_for, horizon + width);

    IF scope.closed_until > t THEN
        reason := 'closed';
        wait_ms := ceil(extract(epoch FROM scope.closed_until - t) * 1000);
        UPDATE rate_scopes s SET last_now = t WHERE s.app_id = p_app_id AND s.endpoint = p_endpoint;
        RETURN;
    END IF;

    DELETE FROM rate_buckets b
     WHERE b.app_id = p_app_id AND b.endpoint = p_endpoint AND b.bucket <= t - scope.kept_for;
    SELECT coalesce(sum(b.granted), 0) INTO used FROM rate_buckets b
     WHERE b.app_id = p_app_id AND b.endpoint = p_endpoint AND b.bucket > t - horizon - width;

    -- An even pace: one request a unit, and after a rest at most a fifth of a second's worth at once.
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
        -- While the clock lags behind last_now, nothing is gained by asking again and again.
        wait_ms := greatest(1, least(60000, ceil(extract(epoch FROM scope.next_at - clock_timestamp()) * 1000)));
    END IF;
    UPDATE rate_scopes s SET last_now = t, next_at = scope.next_at, kept_for = scope.kept_for
     WHERE s.app_id = p_app_id AND s.endpoint = p_endpoint;
END $$;

COMMENT ON FUNCTION rate_take IS 'Takes requests from an endpoint''s budget before they are sent, or says how long to wait.';

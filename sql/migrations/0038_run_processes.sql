-- Which processes work on a run, and on which hosts?
--
-- A lease names its holder only by a random number, and a process that writes files or refreshes views holds no lease. So each
-- process has a row here, and renews seen_at as often as its leases.
CREATE TABLE run_processes (
    app_id     integer     NOT NULL,
    run_id     bigint      NOT NULL,
    owner      uuid        NOT NULL,
    host       text        NOT NULL,
    process_id integer     NOT NULL,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at   timestamptz,
    PRIMARY KEY (app_id, run_id, owner),
    FOREIGN KEY (app_id, run_id) REFERENCES runs ON DELETE CASCADE
);
COMMENT ON TABLE run_processes IS 'The processes that worked on each run, and on which host.';
COMMENT ON COLUMN run_processes.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN run_processes.run_id IS 'The run, in runs.';
COMMENT ON COLUMN run_processes.owner IS 'The random number of the process, as in crawl_items.lease_owner.';
COMMENT ON COLUMN run_processes.host IS 'The name of the host, as the host itself calls it.';
COMMENT ON COLUMN run_processes.process_id IS 'The number of the process on its host.';
COMMENT ON COLUMN run_processes.started_at IS 'When the process joined the run.';
COMMENT ON COLUMN run_processes.seen_at IS
    'When the process last reported, which it does every 15 seconds. A process that has not reported for a minute has probably been killed.';
COMMENT ON COLUMN run_processes.ended_at IS 'When the process left the run; NULL while it works, and if it was killed.';

-- The role that loads records can write it.
DO $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        SELECT format('ALTER TABLE run_processes OWNER TO %I', pg_get_userbyid(runs.relowner))
          FROM pg_class c JOIN pg_class runs ON runs.oid = 'runs'::regclass AND runs.relowner <> c.relowner
         WHERE c.oid = 'run_processes'::regclass
        UNION ALL
        SELECT format('GRANT SELECT, INSERT, UPDATE ON run_processes TO %I', pg_get_userbyid(a.grantee))
          FROM pg_class c, aclexplode(c.relacl) a
         WHERE c.oid = 'runs'::regclass AND a.privilege_type = 'INSERT' AND a.grantee <> c.relowner AND a.grantee <> 0
    LOOP
        EXECUTE statement;
    END LOOP;
END $$;

"""A private PostgreSQL cluster, through scripts/lib/postgres.sh."""

import os
import shlex
import subprocess

OPTIONS = (
    # A year has vacuum, a replica, and a write-ahead log whose size means something.
    "-c autovacuum=on -c autovacuum_naptime=1s -c wal_level=replica -c max_wal_senders=4 -c hot_standby=on"
    " -c timezone=Europe/Berlin -c plan_cache_mode=auto -c track_io_timing=off"
)


class Database:
    def __init__(self, root, directory, machine):
        self._root = root
        self._machine = machine
        self.directory = directory
        self.name = "storeledger"
        self.start()

    def start(self):
        # Every cluster of the year has the same clock.
        if not os.path.lexists(self.directory + ".clock"):
            os.symlink(self._machine.clock.path, self.directory + ".clock")
        text = self._shell('postgres_start "$1" >&2; printf "%s\\n%s\\n" "$DATABASE_URL" "$PGHOST"')
        self._server, self.host = text.split()

    @property
    def url(self):
        return f"{self._server}&dbname={self.name}"

    def stop(self, mode="fast"):
        self._shell(f'home=$(postgres_home "$1"); postgres_as_owner "$(postgres_bindir)/pg_ctl" stop -s -w -m {mode} -D "$home/data"')

    def is_running(self):
        return bool(self._shell('if postgres_is_running "$(postgres_home "$1")" "$(postgres_bindir)"; then echo yes; fi').strip())

    def remove(self):
        self._shell('postgres_remove "$1"')

    def standby(self, directory):
        """Copies the cluster into a standby that the primary's commits wait for."""
        self._shell(
            f'home=$(postgres_home {shlex.quote(directory)}); postgres_make_directory "$home"; '
            f'postgres_as_owner "$(postgres_bindir)/pg_basebackup" --host {shlex.quote(self.host)} --username storeledger'
            ' --pgdata "$home/data" --write-recovery-conf --checkpoint fast --no-sync'
        )
        standby = Database.__new__(Database)
        standby._root, standby._machine, standby.directory, standby.name = self._root, self._machine, directory, self.name
        standby.start()
        self.run("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.run("SELECT pg_reload_conf()")
        return standby

    def promote(self):
        self._shell('home=$(postgres_home "$1"); postgres_as_owner "$(postgres_bindir)/pg_ctl" promote -s -w -D "$home/data"')

    def run(self, sql, database=None, path="appstore"):
        """Runs one statement and returns its rows, as lists of texts."""
        url = f"{self._server}&dbname={database or self.name}"
        options = {"PGOPTIONS": f"-c search_path={path} -c timezone=UTC -c client_min_messages=warning"}
        done = subprocess.run(
            ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-F", "\x1f", "-d", url, "-c", sql],
            capture_output=True, text=True, env={**os.environ, **options}, timeout=300,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{sql[:200]}: {done.stderr}")
        return [line.split("\x1f") for line in done.stdout.splitlines()]

    def value(self, sql, **options):
        return self.run(sql, **options)[0][0]

    def number(self, sql, **options):
        return int(self.value(sql, **options))

    def wal(self):
        return self.number("SELECT pg_current_wal_insert_lsn() - '0/0'")

    def tool(self, name, *arguments):
        done = subprocess.run([name, *arguments], capture_output=True, text=True, timeout=600)
        if done.returncode != 0:
            raise RuntimeError(f"{name}: {done.stderr}")
        return done.stdout

    def sizes(self, database=None):
        """Rows, bytes of the table and bytes of its indexes by table."""
        rows = self.run(
            """
            SELECT relname, pg_table_size(oid), pg_indexes_size(oid) FROM pg_class
             WHERE relnamespace = 'appstore'::regnamespace AND relkind = 'r' ORDER BY 1
            """,
            database=database,
        )
        counts = dict(self.run(" UNION ALL ".join(f"SELECT '{row[0]}', count(*) FROM {row[0]}" for row in rows), database=database))
        return {name: (int(counts[name]), int(table), int(indexes)) for name, table, indexes in rows}

    def _shell(self, script):
        done = subprocess.run(
            ["bash", "-c", f'set -eu; . "$0"; {script}', self._root + "/scripts/lib/postgres.sh", self.directory],
            capture_output=True, text=True, timeout=180,
            env={
                **os.environ, **self._machine.database_disk.environment, "POSTGRES_FAST": "1", "POSTGRES_OPTIONS": OPTIONS,
                "POSTGRES_CLOCK": self._machine.libraries,
            },
        )
        if done.returncode != 0:
            raise RuntimeError(f"PostgreSQL: {done.stderr}")
        return done.stdout

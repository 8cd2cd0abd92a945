"""What the year has cost at its end, compared with its beginning and with a fresh load of the same world."""

import datetime
import statistics

# Tables that have more rows after a year than after a fresh load, and why.
REASONS = {
    "action_attempts": "every request of an action",
    "action_batches": "every batch of actions",
    "action_input_rows": "every row of the input of external purchase reports",
    "action_jobs": "every job of actions",
    "action_rows": "every row of a batch",
    "change_exports": "one row for the change export",
    "changed_customers": "marks that the next run takes",
    "changed_rows": "keys that the next change part takes",
    "crawl_items": "each window of notifications, with what it covers",
    "erased_marks": "tombstones of erased customers",
    "erasure_keys": "the key of the tombstones",
    "exchange_rates": "entered by hand",
    "field_issues": "facts that a newer signature left out",
    "jobs": "every job",
    "latest_signatures": "the newest signature of contents that Apple signed again",
    "notification_reconciliation": "one row for each day and type",
    "notification_send_attempts": "notifications that Apple no longer serves",
    "notifications": "notifications that Apple no longer serves",
    "planned_streams": "the filters of each job",
    "products": "entered by hand",
    "quoted_ids": "former account tokens",
    "rate_buckets": "the spent budget of the last hour",
    "received_notifications": "what the receiver took, until its retention",
    "refresh_stored_notification_days": "days of notifications that Apple no longer serves",
    "refresh_stored_cancellations": "notifications that Apple no longer serves",
    "refresh_cancellation_totals": "notifications that Apple no longer serves",
    "refresh_stored_refund_requests": "notifications that Apple no longer serves",
    "refresh_refund_request_totals": "notifications that Apple no longer serves",
    "refresh_decision_time_totals": "notifications that Apple no longer serves",
    "refresh_recovery_time_totals": "failed renewals whose notifications Apple no longer serves",
    "refresh_billing_recovery_totals": "failed renewals whose notifications Apple no longer serves",
    "refresh_changed_keys": "marks that the next refresh takes",
    "renewals": "subscriptions whose notifications Apple no longer serves",
    "retention_progress": "the progress of each term",
    "run_processes": "every process of a run",
    "runs": "every run",
    "schema_definitions": "files of an earlier version",
    "schema_migrations": "migrations",
    "unread_texts": "texts that the next erasure reads",
    "signed_payloads": "replaced payloads, until their retention",
    "signing_headers": "the archive's headers",
    "stale_statistics": "tables whose statistics an erasure has still to renew",
}
# What a fresh load does not have at all counts in no comparison of bytes.
LIMIT_OF_NIGHTS = 1.1
LIMIT_OF_BYTES = 1.3


class Figures:
    def __init__(self, year):
        self.sentences = []
        self.nights = year.measures
        self._compare_nights()
        self._compare_memory()
        self._compare_bytes(year)

    def _plain(self, first, last):
        return [night for night in self.nights if night["plain"] and first <= night["night"] < last]

    def _compare_nights(self):
        """The second month with the last one, by the median of nights without events."""
        last = self.nights[-1]["night"] + 1
        self.february, self.december = self._plain(31, 60), self._plain(max(60, last - 31), last)
        self.ratios = {}
        if min(len(self.february), len(self.december)) < 3:
            return
        for name in ("requests", "records", "wal", "cpu", "seconds"):
            before, after = (statistics.median(night[name] for night in nights) for nights in (self.february, self.december))
            self.ratios[name] = (before, after, after / before)
        # Customers have more subscriptions in December, so Apple answers with more records. Seconds depend on what else the machine does.
        records = self.ratios["records"][2]
        for name, limit in (("requests", LIMIT_OF_NIGHTS), ("wal", LIMIT_OF_NIGHTS * max(1, records))):
            if self.ratios[name][2] > limit:
                self.sentences.append(f"a night's {name} is {self.ratios[name][2]:.2f} times February's (limit {limit:.2f}); its records are {records:.2f} times")

    def _compare_memory(self):
        if min(len(self.february), len(self.december)) < 3:
            return
        for name in ("peak", "receiver"):
            before, after = (statistics.median(night[name] for night in nights) for nights in (self.february, self.december))
            self.ratios[name] = (before, after, after / before)
            if after > LIMIT_OF_NIGHTS * before + 4_096:
                self.sentences.append(f"memory ({name}) grew from {before} KiB to {after} KiB")

    def _compare_bytes(self, year):
        self.tables = year.database.sizes()
        self.fresh = year.fresh_sizes()
        mine = fresh = self.beyond = 0
        for table, (rows, data, indexes) in self.tables.items():
            fresh_rows, fresh_data, fresh_indexes = self.fresh.get(table, (0, 0, 0))
            if rows > 1.1 * fresh_rows + 10 and table not in REASONS:
                self.sentences.append(f"{table} has {rows} rows, a fresh load {fresh_rows}, and no reason is written down")
            if fresh_rows:
                # Rows for which there is a reason are expected to take as much as others.
                mine += data + indexes
                fresh += (fresh_data + fresh_indexes) * max(1, rows / fresh_rows)
            else:
                self.beyond += data + indexes
        self.bytes = (mine, int(fresh), mine / fresh)
        if mine > LIMIT_OF_BYTES * fresh:
            self.sentences.append(f"the ledger has {mine} bytes, {mine / fresh:.2f} of a fresh load of as many rows")

    def lines(self):
        """The figures as lines of a Markdown page."""
        last = datetime.date.fromisoformat(self.nights[-1]["date"])
        yield f"| A night, median | February | {last:%B} | Ratio |"
        yield "|---|---:|---:|---:|"
        units = {
            "requests": ("requests", 1, 0), "records": ("records in Apple's answers", 1, 0), "wal": ("write-ahead log, KiB", 1024, 0), "cpu": ("seconds of CPU, `run`", 1, 2),
            "seconds": ("seconds, `run`", 1, 2), "peak": ("memory of `run`, MiB", 1024, 1), "receiver": ("memory of `receive`, MiB", 1024, 1),
        }
        for name, (before, after, ratio) in self.ratios.items():
            title, unit, digits = units[name]
            yield f"| {title} | {before / unit:,.{digits}f} | {after / unit:,.{digits}f} | {ratio:.2f} |"
        yield ""
        mine, fresh, ratio = self.bytes
        yield f"Tables of a fresh load: {mine / 1024:,.0f} KiB, {ratio:.2f} of what as many rows take fresh; further tables {self.beyond / 1024:,.0f} KiB."
        yield ""
        yield "| Table | Rows | Fresh | KiB | Fresh | Indexes, KiB | Fresh | Why more rows |"
        yield "|---|---:|---:|---:|---:|---:|---:|---|"
        for table, (rows, data, indexes) in sorted(self.tables.items(), key=lambda item: -item[1][1] - item[1][2]):
            fresh_rows, fresh_data, fresh_indexes = self.fresh.get(table, (0, 0, 0))
            grown = rows > 1.1 * fresh_rows + 10
            if not grown and data + indexes < 100 * 1024:
                continue
            sizes = " | ".join(f"{bytes / 1024:,.0f}" for bytes in (data, fresh_data, indexes, fresh_indexes))
            yield f"| `{table}` | {rows:,} | {fresh_rows:,} | {sizes} | {REASONS.get(table, '') if grown else ''} |"

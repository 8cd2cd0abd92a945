"""A year of nights: the days between, the run of each night, and what is measured."""

import datetime
import json
import os
import random
import shutil
import subprocess

import events
import parts
import promises
from machine import ROOT, UTC
from product import Product, summary
from store import Store

# A leap year, in a time zone with summer time: nights begin two seconds before the clock there changes.
FIRST = datetime.datetime(2028, 1, 1, tzinfo=UTC)
NIGHT = datetime.timedelta(minutes=59, seconds=58)
CUSTOMERS = 50
CHANGES = 3

TABLES = "[transactions, refunds, notifications, renewals, notification_send_attempts, subscription_statuses, app_transactions, orders, order_transactions]"
# The two endpoints of ten requests a second would take most of a night's time; in no hour come as many as they allow.
STREAMS = """
  transactionHistory: {}
  refundHistory: {for: revoked}
  notificationHistory: {scope: app, startDate: lastRun, endDate: now, overlap: 1h}
  subscriptionStatuses: {}
  appTransaction: {}
  orderLookup: {orderIds: {csv: {path: %s, column: order_id}}}
limits: {share: 1, requestsPerSecond: {refundHistory: 50, orderLookup: 50}}"""


class Year:
    def __init__(self, plan, seed, bin, directory, machine, database, port, say):
        self.plan, self.directory, self.machine, self.clock, self.say = plan, directory, machine, machine.clock, say
        self.random = random.Random(f"year {seed}")
        self.broken = []
        self.measures = []
        self.night = 0
        self.skipped = set()
        self.erased = {}
        self.facts = promises.Facts()
        os.makedirs(directory + "/logs", exist_ok=True)
        self.clock.set(FIRST + datetime.timedelta(hours=1))
        self.store = Store(
            bin, directory + "/store", machine, directory + "/logs",
            ["--port", "0", "--seed", str(seed), "--customers", str(CUSTOMERS), "--transactions-per-customer", "8",
             "--advanced-commerce-subscribers", "6", "--late-notifications", "40", "--anchor", "2028-01-01T00:00:00Z",
             "--notify-url", f"http://127.0.0.1:{port}/notifications", "--rate-limit", "documented"],
        )
        self.database = database
        self.product = Product(bin, directory, machine, database, self.store, port)
        self.ids = directory + "/ids.csv"
        shutil.copy(self.store.directory + "/ids.csv", self.ids)
        self.out = directory + "/parts"
        self.job = self.product.write_job("nightly", self.job_text(f"csv: {{directory: {self.out}, tables: {TABLES}, changes: true}}"))
        self.full_job = self.product.write_job("whole", self.job_text(f"csv: {{directory: {directory}/whole, tables: {TABLES}}}"))
        self.follower = parts.Follower(self.out)

    def job_text(self, output):
        streams = STREAMS % (self.store.directory + "/orders.csv")
        return (
            f"transactionIds: {{csv: {{path: {self.ids}, column: transaction_id}}}}\nstreams:{streams}\n"
            "retention: {archive: 30d, sendAttempts: 90d, receivedNotifications: 60d, items: 30d}\n"
            f'output:\n  postgres: {{url: "${{DATABASE_URL}}"}}\n  {output}\n'
        )

    def begin(self):
        self.product.expect("migrate", self.job)
        self.database.tool("psql", "-Xq", "-d", self.database.url, "-f", ROOT + "/scripts/lib/demo-rates.sql")
        self.product.start_receiver()
        self.facts.first = self.clock.now()
        self.measure(0, self.nightly())

    # A day and its night.

    def moment(self, night):
        return FIRST + datetime.timedelta(days=night) + NIGHT

    def live(self, night):
        """Customers come, buy, renew or not, and ask for refunds on the day before the night."""
        day = self.moment(night - 1) - NIGHT
        for hour in (12, 16, 21):
            self.clock.set(day + datetime.timedelta(hours=hour))
            self.store.advance(changes=CHANGES)
            self.store.advance(until=self.clock.milliseconds())
            if hour == 16 and night % 3 == 0:
                self.store.advance(refundRequests=1)
            if hour == 21 and night % 15 == 7:
                # As many come as are erased.
                self.list_ids(self.listed() + self.store.advance(customers=1))

    def play(self, night):
        self.night = night
        happening = self.plan.events(night)
        if happening:
            self.say(f"night {night} ({self.moment(night):%Y-%m-%d}): {', '.join(happening)}")
        self.deliver_badly()
        for name in self.plan.beside[night]:
            if name in events.BEFORE_THE_NIGHT:
                events.BEFORE_THE_NIGHT[name](self)
        self.live(night)
        self.clock.set(self.moment(night))
        self.store.settle()
        self.store.agree()
        around = self.plan.run(night)
        measured = events.RUNS[around](self) if around else self.nightly()
        self.measure(night, measured)
        self.reconcile()
        self.follower.follow()
        for name in self.plan.beside[night]:
            if name in events.IN_THE_MORNING:
                # An endpoint that Apple has closed for an hour is open again.
                self.later(minutes=75)
                self.store.agree()
                events.IN_THE_MORNING[name](self)
        if self.plan.run(night + 1) == "restore":
            self.dump()

    def deliver_badly(self):
        """Other faults of the notifications' delivery each day, of which none loses a notification for ever."""
        kind = self.random.choice(["drop", "loseAnswer", "duplicate", "reorder", "fine"])
        rule = {"fault": kind, "everyNth": self.random.randrange(3, 9)}
        if kind == "drop":
            rule["attempts"] = self.random.randrange(1, 7)
        self.store.set_delivery_faults(*([] if kind == "fine" else [rule]))

    def nightly(self, codes=(0,), seconds=180):
        """The nightly run to its end; None when it did not come to one."""
        self.store.agree()
        before = self.database.wal()
        run = self.product.call("run", self.job, "--json", "--progress", "none", "--max-duration", "60s", seconds=seconds)
        if run.code not in codes:
            self.breaks(f"the run ended with {run.code}: {run.errors()[-800:]}")
            return None
        counts = summary(run)["counts"] if run.code in (0, 2) else None
        return {
            "seconds": run.seconds, "cpu": run.cpu, "peak": run.peak_kib, "wal": self.database.wal() - before,
            "requests": counts and counts["requests"],
            "records": counts and sum(counts[name] for name in ("rowsNew", "rowsUpdated", "rowsUnchanged")),
        }

    def run(self, *options, codes):
        """A run that something disturbs."""
        self.store.agree()
        run = self.product.call("run", self.job, "--progress", "none", *options)
        self.check(run, codes)
        return run

    def check(self, process, codes):
        if process.code not in codes:
            self.breaks(f"{process.name} ended with {process.code}, not {' or '.join(map(str, codes))}: {process.errors()[-800:]}")

    def catch_up(self, codes=(0,)):
        """Runs until everything is read, as a timer would: later when the limit is spent."""
        for _ in range(6):
            self.store.agree()
            run = self.product.call("run", self.job, "--progress", "none", "--max-duration", "20s")
            if run.code not in (69, 74, 75, 76):
                break
            self.later(minutes=70)
        self.check(run, codes)

    def later(self, **time):
        self.clock.set(self.clock.now() + datetime.timedelta(**time))

    def reconcile(self):
        compared = self.product.call("reconcile", self.job, "--json")
        self.facts.check_reconciliation(self, compared)

    def measure(self, night, measured):
        if measured is None:
            return
        self.measures.append({
            "night": night, "date": f"{self.moment(night):%Y-%m-%d}", "plain": self.plan.is_plain(night), **measured,
            "receiver": self.product.receiver_kib(), "bytes": self.database.number("SELECT pg_database_size(current_database())"),
        })

    def breaks(self, sentence):
        self.broken.append(sentence)
        self.say(f"night {self.night}: BROKEN: {sentence}")

    # What some events need.

    def fresh_sizes(self):
        """The sizes of a ledger that another database loads from the same world now."""
        url = self.database.url
        self.database.run("CREATE DATABASE fresh", path="public")
        self.database.name = "fresh"
        job = self.product.write_job("fresh", self.job_text(f"csv: {{directory: {self.directory}/fresh, tables: {TABLES}}}"))
        try:
            self.product.expect("migrate", job)
            # Without the customers that were erased.
            with open(self.directory + "/erased.sql", "w") as file:
                for table in ("apps", "erasure_keys", "erased_marks"):
                    file.write(self.database.tool("pg_dump", "--data-only", "--table", "appstore." + table, "--dbname", url))
            self.database.tool("psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-d", self.database.url, "-f", self.directory + "/erased.sql")
            self.product.expect("run", job, "--progress", "none")
            return self.database.sizes()
        finally:
            self.database.name = "storeledger"

    def dump(self):
        self.database.tool("pg_dump", "--format", "custom", "--schema", "appstore", "--file", self.directory + "/ledger.dump", self.database.url)
        self.facts.dumped_at = self.clock.now()

    def save_tombstones(self):
        self.database.tool(
            "pg_dump", "--data-only", "--table", "appstore.erasure_keys", "--table", "appstore.erased_marks",
            "--file", self.directory + "/tombstones.sql", self.database.url,
        )

    def listed(self):
        return open(self.ids).read().split()[1:]

    def list_ids(self, ids):
        with open(self.ids + ".new", "w") as file:
            file.write("\n".join(["transaction_id", *ids]) + "\n")
        os.replace(self.ids + ".new", self.ids)

"""What happens in a year. Each function is one event; RUNS replace the nightly run; the others happen in addition to it."""

import csv
import datetime
import os
import signal
import time

import baseline
import promises
from product import summary
from store import customer_of
from world import World


def silence(year):
    year.store.set_faults({"fault": "dropConnection"})
    year.run("--max-duration", "3s", codes=(75, 76))
    year.store.set_faults()


def too_many_requests(year):
    until = str(year.clock.milliseconds() + 3_600_000)
    year.store.set_faults({"fault": "rateLimited", "retryAfter": [until]})
    year.run("--max-duration", "2s", codes=(75,))
    year.store.set_faults()


def refused_tokens(year):
    year.store.set_faults({"atRequest": 20, "fault": "refuseToken", "milliseconds": 2_000})
    year.run(codes=(0,))
    year.store.set_faults()


def erratic_answers(year):
    year.store.set_faults(
        {"everyNth": 13, "fault": "status", "status": 500, "errorCode": 5_000_000, "errorMessage": "Try again."},
        {"everyNth": 17, "fault": "dropConnection"}, {"everyNth": 19, "fault": "truncateBody", "bytes": 100},
    )
    year.run(codes=(0,))
    year.store.set_faults()


def killed_run(year):
    run = year.product.start("run", year.job, "--progress", "none")
    time.sleep(year.random.uniform(0.05, 1.5))
    run.kill()
    # What it held is free after its lease.
    year.later(minutes=3)
    year.catch_up()


def stopped_database(year):
    run = year.product.start("run", year.job, "--progress", "none")
    time.sleep(year.random.uniform(0.1, 1.0))
    year.database.stop("immediate")
    time.sleep(0.3)
    year.database.start()
    run.wait(180)
    year.check(run, (0, 69, 75))
    year.later(minutes=3)
    year.catch_up()


def long_night(year):
    """A run is held up until the next night, whose process joins it; the first one then sees that the clock is another one (78)."""
    year.store.set_faults({"fault": "delay", "milliseconds": 500})
    first = year.product.start("run", year.job, "--json", "--progress", "none", "--concurrency", "2")
    time.sleep(1.5)
    first.signal(signal.SIGSTOP)
    year.store.set_faults()
    year.live(year.night + 1)
    year.clock.set(year.moment(year.night + 1))
    year.store.agree()
    second = year.product.call("run", year.job, "--json", "--progress", "none")
    first.signal(signal.SIGCONT)
    year.check(second, (0,))
    year.check(first.wait(180), (0, 2, 75, 78))
    if second.code == 0 and not summary(second)["joined"]:
        year.breaks("the second night did not join the run that was not over")
    year.skipped.add(year.night + 1)


def failover(year):
    """The primary dies during a run; a standby that its commits wait for takes its place."""
    standby = year.database.standby(year.database.directory + "-standby")
    run = year.product.start("run", year.job, "--progress", "none")
    time.sleep(year.random.uniform(0.2, 1.0))
    year.database.stop("immediate")
    standby.promote()
    run.kill()
    year.product.kill_receiver()
    year.database.remove()
    year.database = year.product.database = standby
    # No commit was lost, so no request needs to be counted that is not in the table: docs/operations/database.md.
    year.database.run("UPDATE rate_scopes SET server = ledger_server()")
    year.product.start_receiver()
    year.later(minutes=3)
    year.catch_up()


def upgrade(year):
    """The year's rows are in the tables of the oldest schema that can be upgraded; then comes this version."""
    year.product.stop_receiver()
    baseline.go_back(year.database)
    year.product.expect("migrate", year.job)
    year.product.start_receiver()
    year.catch_up()


def full_disk(year):
    year.machine.database_disk.fill()
    # The day's rows do not fit any more.
    year.store.advance(changes=20)
    year.run("--max-duration", "10s", codes=(69, 74, 75, 0))
    year.machine.database_disk.make_room()
    if not year.database.is_running():
        year.database.start()
    year.later(hours=1, minutes=10)
    year.store.settle()
    year.catch_up()


def full_output_disk(year):
    year.machine.output_disk.fill()
    year.store.advance(changes=20)
    year.run(codes=(74,))
    year.machine.output_disk.make_room()
    year.catch_up()


def restore(year):
    """Back to the dump of last night; what came between is recovered, as docs/operations/database.md says."""
    year.product.stop_receiver()
    year.facts.note_lost(year)
    year.database.run("DROP SCHEMA appstore CASCADE", path="public")
    year.database.tool("pg_restore", "--no-owner", "--exit-on-error", "--dbname", year.database.url, year.directory + "/ledger.dump")
    if os.path.exists(year.directory + "/tombstones.sql"):
        year.database.tool(
            "psql", "-Xq", "-v", "ON_ERROR_STOP=1", "--single-transaction", "-d", year.database.url,
            "-c", "TRUNCATE appstore.erasure_keys, appstore.erased_marks", "-f", year.directory + "/tombstones.sql",
        )
        year.product.expect("erase", year.job, "--reapply", "--yes")
    year.product.start_receiver()
    year.catch_up()


def clock_back(year):
    year.clock.set(year.clock.now() - datetime.timedelta(days=1))
    year.run("--max-duration", "20s", codes=(0, 75, 78))
    year.clock.set(year.moment(year.night) + datetime.timedelta(minutes=5))
    year.catch_up()


def pause(year):
    """400 days without a run and without a receiver, after the year. What Apple no longer serves is named as a gap."""
    year.say("after the year: 400 days without a run")
    year.product.kill_receiver()
    began = year.clock.milliseconds()
    for _ in range(20):
        year.later(days=20)
        year.store.advance(changes=5)
        year.store.advance(until=year.clock.milliseconds())
    year.product.start_receiver()
    year.store.settle()
    year.facts.pauses.append((began, year.clock.milliseconds() - 180 * promises.DAY))
    year.catch_up(codes=(2,))
    if year.database.number("SELECT count(*) FROM coverage_gaps") == 0:
        year.breaks("no gap is named after 400 days without a run")
    year.night += 400
    promises.check(year)


RUNS = {
    "silence": silence, "too many requests": too_many_requests, "refused tokens": refused_tokens, "long night": long_night,
    "failover": failover, "upgrade": upgrade, "full disk": full_disk, "restore": restore, "clock back": clock_back,
    "full output disk": full_output_disk, "killed run": killed_run, "erratic answers": erratic_answers, "stopped database": stopped_database,
}


def killed_receiver(year):
    """It is away for half a day: Apple posts again what it did not answer."""
    year.product.kill_receiver()
    year.clock.set(year.moment(year.night - 1) + datetime.timedelta(hours=8))
    year.store.advance(changes=2)
    year.later(hours=2)
    year.product.start_receiver()


def entries_by_hand(year):
    """A product's name and period, and the rates of a month, are edited by hand."""
    month = year.night // 30
    year.database.run(
        f"""
        INSERT INTO products (app_id, product_id, display_name, product_group, period)
        SELECT app_id, 'com.example.game.plus.monthly', 'Plus {month}', 'plus', 'P{1 + month % 2}M' FROM apps
            ON CONFLICT (app_id, product_id) DO UPDATE SET display_name = excluded.display_name, period = excluded.period
        """
    )
    year.database.run(
        f"""
        INSERT INTO exchange_rates (reporting_currency, currency, day, rate)
        SELECT DISTINCT 'USD', currency, DATE '{year.moment(year.night):%Y-%m-%d}', 1.0 + {month} / 100.0 FROM transactions WHERE currency <> 'USD'
            ON CONFLICT (reporting_currency, currency, day) DO UPDATE SET rate = excluded.rate
        """
    )


def erasure(year):
    """A customer asks to be forgotten; some of them buy again, and nothing of it may come back."""
    candidates = [i for i in year.listed() if customer_of(i) not in year.erased]
    listed = year.random.choice(candidates)
    known = year.database.number(f"SELECT count(*) FROM transactions WHERE listed_transaction_id = '{listed}'")
    if known == 0:
        return
    year.product.expect("erase", year.job, "--transaction-id", listed, "--yes")
    year.save_tombstones()
    customer = customer_of(listed)
    year.erased[customer] = World(year.store.world()).ids(customer)
    if year.random.random() < 0.5:
        year.list_ids([i for i in year.listed() if i != listed])


def _batch(year, action, text, rows, expires="7d"):
    name = f"{action.lower()}-{year.night}"
    path = f"{year.product.jobs}/{name}.csv"
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    job = year.product.write_job(
        name,
        f"action:\n  {action}: {text}\ninput: {{csv: {{path: {path}}}}}\napproval: {{required: true, expires: {expires}}}\n"
        f'limits: {{share: 1}}\noutput:\n  postgres: {{url: "${{DATABASE_URL}}"}}\n  results: {{directory: {year.product.jobs}/{name}}}\n',
    )
    plan = summary(year.product.expect("actions", "plan", job, "--json"))
    if plan and plan["rowsToSend"]:
        year.product.expect("actions", "approve", job, "--batch", plan["batch"], "--rows", str(plan["rowsToSend"]))
        return job
    return None


def _active(year, count):
    """Active subscriptions that no batch has extended yet."""
    found = [
        line["key"] for line in year.store.world()
        if line["kind"] == "subscriptionStatus" and line["status"] == 1 and line["key"] not in year.facts.extended
        and customer_of(line["key"]) not in year.erased
    ]
    return year.random.sample(sorted(found), min(count, len(found)))


def batch(year):
    """Subscriptions are extended; Apple loses answers."""
    chosen = _active(year, 3)
    year.facts.extended.update(chosen)
    if not chosen:
        return
    job = _batch(year, "extendRenewalDate", "{extendByDays: 5, extendReasonCode: 3}", [{"original_transaction_id": i} for i in chosen])
    if not job:
        return
    year.store.set_faults(
        {"endpoint": "extendRenewalDate", "everyNth": 2, "times": 1, "fault": "applyThenDrop"},
        {"endpoint": "extendRenewalDate", "everyNth": 3, "times": 1, "fault": "applyThenStatus", "status": 500, "errorCode": 5_000_000},
    )
    run = year.product.start("actions", "run", job, "--progress", "none", "--max-duration", "15s")
    if year.random.random() < 0.4:
        time.sleep(year.random.uniform(0.05, 0.6))
        run.kill()
        year.later(minutes=3)
    else:
        run.wait(120)
        year.check(run, (0, 2, 75))
    year.store.set_faults()
    run = year.product.call("actions", "run", job, "--progress", "none")
    year.check(run, (0, 2, 78))


def approval_that_expires(year):
    """An approval expires before its batch is sent: no row of the batch may leave."""
    chosen = _active(year, 2)
    if not chosen:
        return
    job = _batch(year, "extendRenewalDate", "{extendByDays: 3, extendReasonCode: 2}", [{"original_transaction_id": i} for i in chosen], expires="1h")
    if not job:
        return
    before = len(year.store.actions())
    year.later(hours=2)
    year.check(year.product.call("actions", "run", job, "--progress", "none"), (2, 78))
    if len(year.store.actions()) != before:
        year.breaks("rows were sent after their approval had expired")


def price_change(year):
    """Advanced Commerce subscriptions get a new price, and some of them renew with it."""
    rows = year.database.run(
        """
        SELECT transaction_id, t.currency FROM current_subscriptions s JOIN transactions t USING (app_id, transaction_id)
         WHERE t.product_id LIKE '%ac.subscription' AND t.expires_date > now() + interval '2 days' LIMIT 3
        """
    )
    if not rows:
        return
    month = year.night // 30
    items = '[{"SKU":"shelf-1","price":%d,"effective":"NEXT_BILL_CYCLE","reason":"PRICE_INCREASE"}]' % (13_990 + 1_000 * month)
    job = _batch(year, "changeSubscriptionPrice", "{}", [{"transaction_id": i, "currency": c, "items": items} for i, c in rows])
    if not job:
        return
    year.check(year.product.call("actions", "run", job, "--progress", "none"), (0, 2))
    year.later(minutes=2)
    year.store.advance(renewals=2)


BEFORE_THE_NIGHT = {"killed receiver": killed_receiver}
IN_THE_MORNING = {
    "entries by hand": entries_by_hand, "erasure": erasure, "batch": batch, "approval that expires": approval_that_expires,
    "price change": price_change,
}

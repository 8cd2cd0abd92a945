"""What must be true after each month."""

import base64
import bisect
import datetime
import json
import os
import subprocess

import parts
from machine import UTC
from world import World, compare, without

DAY = 86_400_000


class Facts:
    """What the year has done, as far as the promises depend on it."""

    def __init__(self):
        self.first = None
        self.dumped_at = None
        self.extended = set()
        # Notifications that were answered and then lost by a restore, and the days on which reconcile may say so.
        self.lost = set()
        self.lost_until = -1
        # Times without a run that Apple no longer serves, in milliseconds since 1970.
        self.pauses = []

    def note_lost(self, year):
        self.lost = {
            row[0] for row in year.database.run(
                f"SELECT notification_uuid FROM received_notifications WHERE received_at > '{self.dumped_at.isoformat()}'"
            )
        }
        self.lost_until = year.night + 9

    def check_reconciliation(self, year, compared):
        year.check(compared, (0, 2, 75))
        if compared.code in (75,):
            # Allowed after a night that did not read everything.
            return
        bad = [
            f"{day['day']} {kind['notificationType']}: {kind['answeredButMissing']} answered but missing, {kind['unexplained']} unexplained"
            for day in json.loads(compared.output())["days"] for kind in day["types"]
            if kind["unexplained"] or kind["answeredButMissing"] and year.night > self.lost_until
        ]
        if bad:
            year.breaks("reconcile: " + "; ".join(bad))


def check(year):
    """Checks everything; a sentence for each promise that is broken."""
    # Some of the last notifications, which the receiver has, enter Apple's history up to three hours late.
    year.later(hours=4)
    year.catch_up()
    sentences = []
    for promise in (same_as_world, same_totals, same_sales, same_parts, all_received, nobody_erased, each_action_once, nothing_failed):
        try:
            sentences += promise(year)
        except (RuntimeError, ValueError, KeyError) as error:
            sentences.append(f"{promise.__name__}: {error!r}")
    for sentence in sentences[:20]:
        year.breaks(sentence)
    if len(sentences) > 20:
        year.breaks(f"and {len(sentences) - 20} more")


def _ledger(year, sql):
    return {key: json.loads(value) for key, value in year.database.run(sql)}


def same_as_world(year):
    world = World(year.store.world())
    now = year.clock.milliseconds()
    # Apple serves notifications of 180 days; a first run has no older ones.
    oldest = int(year.facts.first.timestamp() * 1000) - 180 * DAY
    sentences = []

    def is_served(moment):
        return moment >= oldest and not any(first - DAY / 24 <= moment <= last for first, last in year.facts.pauses)

    def expected(kind, content):
        return {
            key: content(line) for key, line in world.of(kind).items()
            if world.customer(kind, line) not in year.erased
        }

    def payload(line):
        return without(line["payload"], "signedDate", "receiptCreationDate")

    for kind, table, key in (
        ("transaction", "transactions", "transaction_id"), ("refund", "refunds", "transaction_id"),
        ("notification", "notifications", "notification_uuid"), ("renewal", "renewals", "original_transaction_id"),
        ("appTransaction", "app_transactions", "app_transaction_id"),
    ):
        signed = {k: line["payload"].get("signedDate", now) for k, line in world.of(kind).items()}
        wanted = {k: v for k, v in expected(kind, payload).items() if is_served(signed[k])}
        if kind == "renewal":
            # The answer about a subscription's status has its renewal info, too, and is newer.
            wanted.update(expected("subscriptionStatus", payload))
        found = _ledger(year, f"SELECT {key}, payload - 'signedDate' - 'receiptCreationDate' FROM {table}")
        sentences += compare(kind, wanted, found, lambda k: not is_served(signed.get(k, now)))
    statuses = _ledger(
        year,
        """
        SELECT original_transaction_id,
               jsonb_build_object('status', status, 'subscriptionGroupIdentifier', subscription_group_identifier, 'transactionId', transaction_id)
          FROM subscription_statuses
        """,
    )
    asked = {row[0] for row in year.database.run("SELECT original_transaction_id FROM subscription_statuses WHERE asked_at > now() - interval '2 hours'")}
    wanted = expected("subscriptionStatus", lambda line: {name: line[name] for name in ("status", "subscriptionGroupIdentifier", "transactionId")})
    sentences += compare("status", wanted, statuses, lambda k: k not in asked and k in statuses)
    return sentences + _attempts(year, world, now, oldest)


def _attempts(year, world, now, oldest):
    """The ledger keeps all attempts of 90 days and the last attempt of each notification. It learns the attempts of the last days later."""
    found = {}
    for uuid, at, result in year.database.run(
        "SELECT notification_uuid, (extract(epoch FROM attempt_date) * 1000)::bigint, send_attempt_result FROM notification_send_attempts"
    ):
        found.setdefault(uuid, set()).add((int(at), result))
    sentences = []
    for uuid, line in world.of("notification").items():
        signed = line["payload"]["signedDate"]
        if year.facts.pauses or world.customer("notification", line) in year.erased:
            continue
        told = {(a["attemptDate"], a["sendAttemptResult"]) for a in line["sendAttempts"]}
        mine = found.get(uuid, set())
        if mine - told:
            sentences.append(f"attempts of {uuid}: some were never made")
        elif now - 85 * DAY < signed < now - 16 * DAY and mine != told or oldest <= signed < now - 16 * DAY and told and not mine:
            sentences.append(f"attempts of {uuid}: {len(told - mine)} are missing")
    return sentences


def same_totals(year):
    verified = year.product.call("refresh", year.job, "--verify")
    return [] if verified.code == 0 else [f"refresh --verify ended with {verified.code}: {verified.output()[-600:]} {verified.errors()[-300:]}"]


def same_parts(year):
    year.product.expect("export", year.job)
    year.follower.follow()
    year.product.expect("export", year.full_job)
    return parts.differences(year.follower.tables, parts.full(year.directory + "/whole"))


def all_received(year):
    """Received and recovered are all that was sent, on every day that was compared."""
    rows = year.database.run(
        """
        SELECT day, notification_type, in_history, received_and_in_history, recovered, answered_but_missing FROM notification_reconciliation
         WHERE in_history <> received_and_in_history + recovered + answered_but_missing
        """
    )
    sentences = [f"reconciliation of {' '.join(row)} does not add up" for row in rows]
    missing = year.database.number("SELECT coalesce(sum(answered_but_missing), 0) FROM notification_reconciliation")
    if missing > len(year.facts.lost):
        sentences.append(f"{missing} notifications were answered and lost; the restore explains {len(year.facts.lost)}")
    return sentences


def nobody_erased(year):
    """No customer who was erased is in the database or in the published files, in plain text or Base64."""
    ids = set().union(*year.erased.values()) if year.erased else set()
    if not ids:
        return []
    needles = {form: text for text in ids for form in (text, *_base64_forms(text))}
    with open(year.directory + "/needles", "w") as file:
        file.writelines(needle + "\n" for needle in needles)
    dump = year.directory + "/everything.sql"
    subprocess.run(["pg_dump", "--data-only", "--schema", "appstore", "--file", dump, year.database.url], check=True, timeout=300)
    copies = _lines(dump, "--regexp", "^COPY [^ ]*")
    found = set()
    for number, needle in _lines(dump, "--fixed-strings", "--file", year.directory + "/needles"):
        place = bisect.bisect(copies, (number,)) - 1
        found.add((needles[needle], copies[place][1].split()[1]))
    for name in os.listdir(year.directory + "/whole"):
        file = f"{year.directory}/whole/{name}"
        found.update((needles[needle], name) for _, needle in _lines(file, "--fixed-strings", "--file", year.directory + "/needles"))
    return sorted(f"erased: {text} is in {place}" for text, place in found)


def _lines(path, *what):
    """What grep finds in a file, as pairs of the line's number and the text. Python's expressions would try thousands of texts at each byte."""
    found = subprocess.run(
        ["grep", "--text", "--only-matching", "--line-number", *what, path], env=dict(os.environ, LC_ALL="C"), capture_output=True, text=True,
    )
    if found.returncode > 1:
        raise RuntimeError(found.stderr)
    return [(int(number), text) for number, text in (line.split(":", 1) for line in found.stdout.splitlines())]


def _base64_forms(text):
    """What of the text does not depend on its neighbours, at each of the three places in a group."""
    data = text.encode()
    for shift in range(3):
        coded = base64.b64encode(b"x" * shift + data).decode().rstrip("=")
        yield coded[(0, 2, 3)[shift]:len(coded) - 1]


def each_action_once(year):
    sentences = []
    applied = {}
    for entry in year.store.actions():
        if entry.get("applied", 0) > 1:
            sentences.append(f"{entry['endpoint']} of {entry['transactionId']} happened {entry['applied']} times")
        if entry["endpoint"] == "extendRenewalDate":
            applied[entry["transactionId"]] = applied.get(entry["transactionId"], 0) + entry["applied"]
    rows = year.database.run(
        """
        SELECT r.subject, count(*) FILTER (WHERE r.state = 'succeeded'), count(*) FILTER (WHERE r.state IN ('unknown', 'confirming'))
          FROM action_rows r JOIN action_batches b USING (app_id, batch_id)
         WHERE b.action = 'extendRenewalDate' AND r.subject IS NOT NULL GROUP BY 1
        """
    )
    known = {key: (int(succeeded), int(unknown)) for key, succeeded, unknown in rows}
    for key in applied.keys() | known.keys():
        succeeded, unknown = known.get(key, (None, None))
        times = applied.get(key, 0)
        if succeeded is not None and not succeeded <= times <= succeeded + unknown:
            sentences.append(f"{key} was extended {times} times; the ledger says {succeeded}, and {unknown} unknown")
    return sentences


def nothing_failed(year):
    """What a night without faults leaves: no failed item, no rejected record, no gap that nothing explains."""
    sentences = []
    for table, where in (("crawl_items", "state = 'failed'"), ("rejected_records", "true"), ("coverage_gaps", "false" if year.facts.pauses else "true")):
        count = year.database.number(f"SELECT count(*) FROM {table} WHERE {where}")
        if count:
            sentences.append(f"{table} has {count} rows where {where}")
    return sentences


def same_sales(year):
    """Sales and refunds by month, product and currency follow from Apple's world without SQL, but for items of Advanced Commerce."""
    world = World(year.store.world())
    wanted = {}

    def add(moment, payload, place, amount):
        month = datetime.datetime.fromtimestamp(moment / 1000, UTC).strftime("%Y-%m-01")
        wanted.setdefault((month, payload["productId"], payload["currency"]), [0, 0, 0])[place] += amount

    for line in world.of("transaction").values():
        payload = line["payload"]
        if world.customer("transaction", line) in year.erased or "advancedCommerceInfo" in payload:
            continue
        if payload["inAppOwnershipType"] != "PURCHASED" or not payload["price"]:
            continue
        add(payload["purchaseDate"], payload, 0, 1)
        # The price of a subscription is the average price of a seat.
        seats = payload["quantity"] if payload["type"] == "Auto-Renewable Subscription" else 1
        add(payload["purchaseDate"], payload, 1, payload["price"] * seats)
        if payload.get("revocationType") in ("REFUND_FULL", "REFUND_PRORATED"):
            add(payload["revocationDate"], payload, 2, 1)
    found = {
        (month, product, currency): [int(purchases), int(gross), int(refunds)]
        for month, product, currency, purchases, gross, refunds in year.database.run(
            """
            SELECT month, product_id, currency, sum(purchases), sum(gross_milliunits), sum(refunds) FROM revenue_by_month
             WHERE product_id NOT LIKE '%.ac.%' GROUP BY 1, 2, 3 HAVING sum(purchases) + sum(refunds) > 0
            """
        )
    }
    return [
        f"sales of {' '.join(key)}: {found.get(key)}, Apple's world has {wanted.get(key)}"
        for key in sorted(wanted.keys() | found.keys()) if wanted.get(key) != found.get(key)
    ]

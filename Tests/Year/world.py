"""What Apple's world says, and where a ledger differs from it; no SQL decides."""

import base64
import json

from store import customer_of

SIGNED = [("data", "signedTransactionInfo"), ("data", "signedRenewalInfo"), ("appData", "signedAppTransactionInfo")]


class World:
    """The records of the world by kind and key, in the form that the ledger has, without erased customers."""

    def __init__(self, lines):
        self.records = {}
        for line in lines:
            if line["kind"] == "notification":
                open_signatures(line["payload"])
            self.records.setdefault(line["kind"], {})[line["key"]] = line
        # Apple's app transaction IDs say nothing of the customer; the transactions do.
        self._customers = {
            line["payload"]["appTransactionId"]: customer_of(key)
            for key, line in self.records["transaction"].items()
            if "appTransactionId" in line["payload"]
        }

    def of(self, kind):
        return self.records.get(kind, {})

    def customer(self, kind, line):
        """The customer of a record; None for one that is about the app."""
        if kind in ("transaction", "refund", "renewal", "subscriptionStatus"):
            return customer_of(line["key"])
        if kind == "appTransaction":
            return self._customers.get(line["key"])
        if kind == "order":
            return customer_of(line["payload"]["transactionIds"][0])
        for part, text in SIGNED:
            content = line["payload"].get(part, {}).get(text)
            if content:
                return self._customers.get(content.get("appTransactionId")) if "transactionId" not in content else customer_of(content["transactionId"])
        return None

    def ids(self, customer):
        """Every text that identifies a customer."""
        found = set()
        for kind, lines in self.records.items():
            for line in lines.values():
                if self.customer(kind, line) == customer:
                    found.add(line["key"])
                    found.update(line["payload"].get(name) for name in ("appTransactionId", "appAccountToken", "originalTransactionId"))
        return found - {None}


def open_signatures(payload):
    """Replaces the signed parts of a notification by their content."""
    for part, text in SIGNED:
        signed = payload.get(part, {}).get(text)
        if signed:
            body = signed.split(".")[1]
            payload[part][text] = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))


def without(payload, *names):
    return {key: value for key, value in payload.items() if key not in names}


def compare(kind, world, ledger, excused):
    """A sentence for each record that is missing, different or in no world.

    world and ledger are payloads by key; excused says whether a key is not to be compared.
    """
    sentences = []
    for key in world.keys() | ledger.keys():
        if world.get(key) == ledger.get(key) or excused(key):
            continue
        if key not in ledger:
            sentences.append(f"{kind} {key} is missing")
        elif key not in world:
            sentences.append(f"{kind} {key} is in no world")
        else:
            names = [n for n in world[key].keys() | ledger[key].keys() if world[key].get(n) != ledger[key].get(n)]
            sentences.append(f"{kind} {key} differs in {', '.join(sorted(names))}")
    return sorted(sentences)

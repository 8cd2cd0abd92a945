"""A reader who follows the parts of a change export, as docs/reference/change-exports.md says."""

import csv
import hashlib
import io
import json
import os

# The key columns after those that are the same in all rows; deletions name them.
KEYS = {
    "transactions": ["transaction_id"], "refunds": ["transaction_id"], "notifications": ["notification_uuid"],
    "renewals": ["original_transaction_id"], "notification_send_attempts": ["notification_uuid", "attempt_date"],
    "subscription_statuses": ["original_transaction_id"], "app_transactions": ["app_transaction_id"],
    "orders": ["order_id"], "order_transactions": ["order_id", "transaction_id"],
}


class Follower:
    def __init__(self, directory):
        self._directory = directory
        self._applied = []
        self.tables = {}

    def follow(self):
        """Applies the parts that are new; returns how many."""
        path = self._directory + "/_manifest.json"
        if not os.path.exists(path):
            return 0
        parts = json.load(open(path))["parts"]
        names = [json.dumps(part, sort_keys=True) for part in parts]
        if names[: len(self._applied)] != self._applied:
            # Begun again: the first part has all rows.
            self._applied = []
        for name, part in list(zip(names, parts))[len(self._applied):]:
            self._apply(part)
            self._applied.append(name)
        return len(parts)

    def _apply(self, part):
        if part.get("from") is None:
            self.tables = {}
        for file in part.get("tombstones", []):
            for row in self._rows(file):
                self.tables.setdefault(file["table"], {}).pop(key_of(file["table"], row), None)
        for file in part["files"]:
            for row in self._rows(file):
                self.tables.setdefault(file["table"], {})[key_of(file["table"], row)] = row

    def _rows(self, file):
        data = open(f"{self._directory}/{file['file']}", "rb").read()
        if hashlib.sha256(data).hexdigest() != file["sha256"]:
            raise ValueError(f"{file['file']} is not what the manifest says")
        return read_rows(data.decode())


def read_rows(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def key_of(table, row):
    return tuple(row[name] for name in KEYS[table])


def full(directory):
    """The tables of a full export."""
    tables = {}
    for file in json.load(open(directory + "/manifest.json"))["files"]:
        rows = read_rows(open(f"{directory}/{file['file']}", newline="").read())
        tables[file["table"]] = {key_of(file["table"], row): row for row in rows}
    return tables


def differences(followed, whole):
    sentences = []
    for table, rows in whole.items():
        mine = followed.get(table, {})
        for key in mine.keys() | rows.keys():
            if mine.get(key) != rows.get(key):
                what = "lacks" if key not in mine else "still has" if key not in rows else "has another row of"
                sentences.append(f"change parts: {table} {what} {' '.join(key)}")
    return sorted(sentences)

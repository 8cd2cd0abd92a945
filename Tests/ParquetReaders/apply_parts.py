"""Applies the parts of a change export by key, in order, and compares the result with a full export.

    python3 apply_parts.py CHANGES-DIRECTORY FULL-DIRECTORY

Both have Parquet files; FULL-DIRECTORY has a manifest.json. Prints the numbers of parts, rows and tombstones. Exit code 1 with a
sentence about the first difference.
"""

import hashlib
import json
import os
import sys

import pyarrow.parquet as pq

changes, full = sys.argv[1:]
tombstones = 0


def rows(directory, entry):
    path = os.path.join(directory, entry["file"])
    with open(path, "rb") as file:
        if hashlib.sha256(file.read()).hexdigest() != entry["sha256"]:
            sys.exit(f"{path} is not the file of the manifest")
    found = pq.read_table(path).to_pylist()
    if len(found) != entry["rows"]:
        sys.exit(f"{path} has {len(found)} rows instead of {entry['rows']}")
    return found


with open(os.path.join(changes, "_manifest.json"), encoding="utf-8") as file:
    parts = json.load(file)["parts"]
with open(os.path.join(full, "manifest.json"), encoding="utf-8") as file:
    expected = {entry["table"]: rows(full, entry) for entry in json.load(file)["files"]}
keys = {"notification_send_attempts": ["notification_uuid", "attempt_date"], "advanced_commerce_items": ["owner_kind", "owner_key", "position"]}


def key(table, row):
    return tuple(row[name] for name in keys.get(table) or [next(iter(row))])


state = {}
for part in parts:
    if "from" not in part:
        state = {}
    for entry in part["tombstones"]:
        for row in rows(changes, entry):
            tombstones += 1
            state[entry["table"]].pop(key(entry["table"], row), None)
    for entry in part["files"]:
        for row in rows(changes, entry):
            state.setdefault(entry["table"], {})[key(entry["table"], row)] = row
for table, wanted in expected.items():
    if {key(table, row): row for row in wanted} != state.get(table, {}):
        sys.exit(f"{table}: {len(wanted)} rows in the full export, {len(state.get(table, {}))} others after all parts")
print(len(parts), sum(map(len, expected.values())), tombstones)

"""Runs the Python blocks of the page about Iceberg in a directory of parts, and compares the tables with a full export.

    python3 follow_iceberg.py PAGE CHANGES-DIRECTORY FULL-DIRECTORY

The first block follows the parts, and the others are maintenance. Prints the number of rows. Exit code 1 with a sentence about the first
table that differs.
"""

import json
import os
import re
import sys

import pyarrow.parquet as pq

page, changes, full = sys.argv[1:]
with open(page, encoding="utf-8") as file:
    blocks = re.findall(r"^```python\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)
os.chdir(changes)
stdout, sys.stdout = sys.stdout, sys.stderr
names = {}
for block in blocks:
    exec(compile(block, page, "exec"), names)
sys.stdout = stdout
with open(f"{full}/manifest.json", encoding="utf-8") as file:
    entries = json.load(file)["files"]
total = 0
for entry in entries:
    key = names["KEYS"][entry["table"]]
    expected = pq.read_table(f"{full}/{entry['file']}").to_pylist()
    found = names["catalog"].load_table(f"appstore.{entry['table']}").scan().to_arrow().to_pylist()
    if sorted(expected, key=lambda row: row[key]) != sorted(found, key=lambda row: row[key]):
        sys.exit(f"{entry['table']}: {len(found)} rows in the Iceberg table differ from {len(expected)} in the full export")
    total += len(found)
print(total)

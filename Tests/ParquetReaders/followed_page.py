"""What the scripts about the pages on Iceberg and Spark share."""

import json
import os
import re
import sys

import pyarrow.parquet as pq


def run(page, directory, blocks=slice(None)):
    """Runs Python blocks of a page in a directory, and returns their names. Nothing of their output goes to stdout."""
    with open(page, encoding="utf-8") as file:
        found = re.findall(r"^```python\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)[blocks]
    os.chdir(directory)
    names = {}
    stdout = os.dup(1)
    os.dup2(2, 1)
    try:
        for block in found:
            exec(compile(block, page, "exec"), names)
        sys.stdout.flush()
    finally:
        os.dup2(stdout, 1)
    return names


def compare(full, keys, rows):
    """Compares the rows of each table with the rows of a full export, and prints their number."""
    with open(f"{full}/manifest.json", encoding="utf-8") as file:
        entries = json.load(file)["files"]
    total = 0
    for entry in entries:
        key = keys[entry["table"]]
        expected = pq.read_table(f"{full}/{entry['file']}").to_pylist()
        found = rows(entry["table"])
        if sorted(expected, key=lambda row: row[key]) != sorted(found, key=lambda row: row[key]):
            sys.exit(f"{entry['table']}: {len(found)} rows after the parts differ from {len(expected)} in the full export")
        total += len(found)
    print(total)


def show(*metrics):
    """Prints each row of the metrics as one line."""
    for number, metric in enumerate(metrics):
        for row in metric:
            print(number, *row)

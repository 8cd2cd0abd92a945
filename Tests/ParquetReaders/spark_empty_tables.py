"""Follows parts in which a table has no rows with the script of the page about Spark.

    python3 spark_empty_tables.py PAGE DIRECTORY

Writes the parts itself, and runs the script after each. Prints the number of parts. Exit code 1 with a sentence about the first part after which the
copy differs.
"""

import json
import os
import sys

import pyarrow as pa
import pyarrow.parquet as pq

# No folder __pycache__ in the checkout.
sys.dont_write_bytecode = True
import followed_page

page, directory = sys.argv[1:]
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
os.environ["PYSPARK_SUBMIT_ARGS"] = "--conf spark.ui.enabled=false --conf spark.sql.shuffle.partitions=2 pyspark-shell"
os.chdir(directory)


def entry(table, part, ids):
    pq.write_table(pa.table({"transaction_id": ids}), f"{table}-{part}.parquet")
    return {"table": table, "file": f"{table}-{part}.parquet"}


STEPS = [
    # Each part: whether it has all rows, the rows of its files and of its tombstones, and the copy after it.
    (True, {"transactions": ["1", "2"]}, {}, {"transactions": ["1", "2"]}),
    (False, {"refunds": ["1"]}, {"transactions": ["2"]}, {"transactions": ["1"], "refunds": ["1"]}),
    (True, {"transactions": ["3"]}, {}, {"transactions": ["3"]}),
    (False, {"refunds": ["4", "5"]}, {}, {"transactions": ["3"], "refunds": ["4", "5"]}),
    (False, {"refunds": ["5", "6"]}, {"refunds": ["4"]}, {"transactions": ["3"], "refunds": ["5", "6"]}),
]
parts = []
for number, (is_full, rows, gone, expected) in enumerate(STEPS):
    part = {"id": f"part-{number}"} if is_full else {"id": f"part-{number}", "from": str(number)}
    part["files"] = [entry(table, number, ids) for table, ids in rows.items()]
    part["tombstones"] = [entry(table, f"{number}-deleted", ids) for table, ids in gone.items()]
    parts.append(part)
    with open("_manifest.json", "w", encoding="utf-8") as file:
        json.dump({"parts": parts}, file)
    names = followed_page.run(page, directory, slice(1, 2))
    tables = names["state"]["tables"]
    found = {table: sorted(row[0] for row in names["spark"].table(table).collect()) for table in tables}
    if found != expected:
        sys.exit(f"after part {number} the copy has {found} instead of {expected}")
    copies = {table: os.listdir(f"copy/{table}") for table in names["KEYS"] if os.path.exists(f"copy/{table}")}
    if {table: copy for table, copy in copies.items() if copy} != {
        table: [os.path.basename(path)] for table, path in tables.items()
    }:
        sys.exit(f"after part {number} there are copies that the script does not read: {copies}")
names["spark"].stop()
print(len(parts))

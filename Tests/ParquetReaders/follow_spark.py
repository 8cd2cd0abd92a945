"""Runs the Python blocks of the page about Spark, and compares the copy that follows the parts with a full export.

    python3 follow_spark.py PAGE CHANGES-DIRECTORY FULL-DIRECTORY

The first block reads the full export, before there is a copy. The others follow the parts, and compute two metrics. Prints the number of rows, and then the
rows of the metrics. Exit code 1 with a sentence about the first table that differs.
"""

import multiprocessing
import os
import sys

# No folder __pycache__ in the checkout.
sys.dont_write_bytecode = True
import followed_page

page, changes, full = sys.argv[1:]
# The warnings of Spark are for a terminal.
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
os.environ["PYSPARK_SUBMIT_ARGS"] = "--conf spark.ui.enabled=false --conf spark.sql.shuffle.partitions=2 pyspark-shell"
# A separate process, because a Java machine keeps the directory in which it was started.
if not os.path.exists(f"{changes}/copy"):
    reading = multiprocessing.Process(target=followed_page.run, args=(page, full, slice(0, 1)))
    reading.start()
    reading.join()
    if reading.exitcode != 0:
        sys.exit("the first block of the page failed")
names = followed_page.run(page, changes, slice(1, None))


def rows(table):
    return names["spark"].table(table).toArrow().to_pylist()


for table in names["KEYS"]:
    if os.listdir(f"copy/{table}") != [os.path.basename(names["state"]["tables"][table])]:
        sys.exit(f"copy/{table} has more than the current copy: {os.listdir(f'copy/{table}')}")
followed_page.compare(full, names["KEYS"], rows)
followed_page.show(names["sales"].collect(), names["notifications"].collect())
names["spark"].stop()

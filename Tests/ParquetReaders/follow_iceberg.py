"""Runs the Python blocks of the page about Iceberg in a directory of parts, and compares the tables with a full export.

    python3 follow_iceberg.py PAGE CHANGES-DIRECTORY FULL-DIRECTORY

The first block follows the parts, the second computes two metrics, and the last is maintenance. Prints the number of rows, and then the rows
of the metrics. Exit code 1 with a sentence about the first table that differs.
"""

import sys

# No folder __pycache__ in the checkout.
sys.dont_write_bytecode = True
import followed_page

page, changes, full = sys.argv[1:]
names = followed_page.run(page, changes)


def rows(table):
    return names["catalog"].load_table(f"appstore.{table}").scan().to_arrow().to_pylist()


followed_page.compare(full, names["KEYS"], rows)
followed_page.show(names["sales"].fetchall(), names["notifications"].fetchall())

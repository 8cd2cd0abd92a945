"""Runs every SQL query of a page with DuckDB and every Python block, in a directory of Parquet files.

    python3 run_page.py PAGE DIRECTORY

Prints the number of blocks. Exit code 1 if one fails or a query returns no row.
"""

import os
import re
import sys

import duckdb

page, directory = sys.argv[1:]
with open(page, encoding="utf-8") as file:
    blocks = re.findall(r"^```(sql|python)\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)
os.chdir(directory)
for language, text in blocks:
    if language == "python":
        sys.stdout, stdout = sys.stderr, sys.stdout
        exec(compile(text, page, "exec"), {})
        sys.stdout = stdout
    elif duckdb.sql(text).to_arrow_table().num_rows == 0:
        sys.exit(f"no row: {text}")
print(len(blocks))

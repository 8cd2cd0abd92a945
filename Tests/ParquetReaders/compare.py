"""Compares published Parquet files with the CSV files of the same tables, cell by cell.

    python3 compare.py CSV-DIRECTORY PARQUET-DIRECTORY

Both directories have a manifest.json with the same tables. pyarrow and DuckDB read the Parquet files. The metadata of
each file name its table and the schema's version. Exit code 1 with a sentence about the first difference.
"""

import json
import os
import re
import sys

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

def moment(microseconds):
    """A moment as the CSV files have it."""
    seconds, fraction = divmod(microseconds, 1_000_000)
    text = str(pa.scalar(seconds, pa.timestamp("s"))).replace(" ", "T")
    return text + (f".{fraction:06d}".rstrip("0") if fraction else "") + "Z"


def as_csv(column):
    """A column's cells as the CSV files have them, without quotation marks; None for NULL."""
    kind = column.type
    if pa.types.is_timestamp(kind):
        return [None if cell is None else moment(cell) for cell in column.cast(pa.int64()).to_pylist()]
    if pa.types.is_boolean(kind):
        return [None if cell is None else "true" if cell else "false" for cell in column.to_pylist()]
    if pa.types.is_integer(kind):
        return [None if cell is None else str(cell) for cell in column.to_pylist()]
    return column.to_pylist()


def are_equal(csv_cell, parquet_cell):
    """An apostrophe in front of a CSV cell keeps a spreadsheet from running it as a formula."""
    return csv_cell == parquet_cell or parquet_cell is not None and csv_cell == "'" + parquet_cell


def manifest(directory):
    with open(os.path.join(directory, "manifest.json"), encoding="utf-8") as file:
        return {entry["table"]: entry for entry in json.load(file)["files"]}


csv_directory, parquet_directory = sys.argv[1:]
csv_files, parquet_files = manifest(csv_directory), manifest(parquet_directory)
if csv_files.keys() != parquet_files.keys():
    sys.exit(f"the tables differ: {sorted(csv_files)} and {sorted(parquet_files)}")
connection = duckdb.connect()
connection.execute("SET TimeZone = 'UTC'")
cells = 0
for name, entry in parquet_files.items():
    path = os.path.join(parquet_directory, entry["file"])
    table = pq.read_table(path)
    metadata = pq.read_metadata(path).metadata
    if metadata[b"storeledger.table"] != name.encode() or not re.match(rb"\d{4}_", metadata[b"storeledger.migration"]):
        sys.exit(f"{name}: the metadata name another table, or no version of the schema: {metadata}")
    text = pa.csv.read_csv(
        os.path.join(csv_directory, csv_files[name]["file"]),
        parse_options=pa.csv.ParseOptions(newlines_in_values=True),
        convert_options=pa.csv.ConvertOptions(
            column_types={column: pa.string() for column in table.column_names},
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            null_values=[""],
        ),
    )
    if not entry["rows"] == csv_files[name]["rows"] == table.num_rows == text.num_rows:
        sys.exit(f"{name}: {text.num_rows} rows in CSV, {table.num_rows} in Parquet, {entry['rows']} in the manifest")
    if text.column_names != table.column_names:
        sys.exit(f"{name}: the columns are {text.column_names} in CSV and {table.column_names} in Parquet")
    duck = connection.sql("SELECT * FROM read_parquet(?)", params=[path]).to_arrow_table()
    for column in table.column_names:
        expected = text[column].to_pylist()
        for library, found in (("pyarrow", table[column]), ("DuckDB", duck[column])):
            for row, (left, right) in enumerate(zip(expected, as_csv(found), strict=True)):
                if not are_equal(left, right):
                    sys.exit(f"{name}.{column}, row {row}: {left!r} in CSV, {right!r} in Parquet with {library}")
        cells += len(expected)
print(cells)

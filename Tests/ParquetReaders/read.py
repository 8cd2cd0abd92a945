"""Reads a Parquet file with pyarrow and with DuckDB, and prints what both found, as JSON.

    python3 read.py FILE

Moments are microseconds since 1970, dates are days since 1970. Exit code 1 if the two libraries disagree.
"""

import json
import sys

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq


def cells(table):
    """The columns as lists of plain values."""
    columns = []
    for column in table.columns:
        if pa.types.is_timestamp(column.type):
            column = column.cast(pa.timestamp("us", tz="UTC")).cast(pa.int64())
        elif pa.types.is_date(column.type):
            column = column.cast(pa.int32())
        columns.append(column.to_pylist())
    return columns


def plain(bound):
    return bound.decode() if isinstance(bound, bytes) else str(bound)


path = sys.argv[1]
file = pq.ParquetFile(path)
table = file.read()
connection = duckdb.connect()
connection.execute("SET TimeZone = 'UTC'")
duck = connection.sql("SELECT * FROM read_parquet(?)", params=[path]).to_arrow_table()
found = cells(table)
if found != cells(duck):
    sys.exit(f"{path}: pyarrow and DuckDB read different cells")

metadata = file.metadata
groups = []
for index in range(metadata.num_row_groups):
    group = metadata.row_group(index)
    columns = []
    for place in range(group.num_columns):
        column = group.column(place)
        statistics = column.statistics
        bounds = statistics is not None and statistics.has_min_max
        columns.append({
            "encodings": sorted(column.encodings),
            "compression": column.compression,
            "nulls": statistics.null_count if statistics is not None else None,
            "least": plain(statistics.min_raw) if bounds else None,
            "greatest": plain(statistics.max_raw) if bounds else None,
        })
    groups.append({"rows": group.num_rows, "columns": columns})

print(json.dumps({
    "types": [str(field.type) for field in table.schema],
    "columns": [[None if cell is None else str(cell) for cell in column] for column in found],
    "groups": groups,
    "metadata": {key.decode(): value.decode() for key, value in (metadata.metadata or {}).items()},
    "createdBy": metadata.created_by,
}))

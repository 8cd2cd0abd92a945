"""dlt: merging the rows of a CSV file into an empty table, in its default way and in its fastest ones."""

import csv
import os
import statistics
import sys
import time
import urllib.parse

os.environ["RUNTIME__DLTHUB_TELEMETRY"] = "false"
os.environ["RUNTIME__LOG_LEVEL"] = "CRITICAL"

import dlt
import pyarrow.csv

PATH = sys.argv[1]
# The private cluster asks for no password; dlt wants one to be there.
CREDENTIALS = {
    "host": urllib.parse.quote(os.environ["PGHOST"], safe=""),
    "port": int(os.environ["PGPORT"]),
    "database": os.environ["PGDATABASE"],
    "username": os.environ["PGUSER"],
    "password": "none",
}


def dictionaries():
    with open(PATH, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            yield {name: cell if cell != "" else None for name, cell in row.items()}


def tables():
    yield from pyarrow.csv.open_csv(PATH, read_options=pyarrow.csv.ReadOptions(block_size=16 << 20))


def rate(name, rows, file_format):
    pipeline = dlt.pipeline(
        pipeline_name=name,
        destination=dlt.destinations.postgres(CREDENTIALS),
        dataset_name=name,
    )
    resource = dlt.resource(rows, name="transactions", write_disposition="merge", primary_key="transaction_id")
    began = time.perf_counter()
    pipeline.run(resource, **({"loader_file_format": file_format} if file_format else {}))
    elapsed = time.perf_counter() - began
    with pipeline.sql_client() as client:
        count = client.execute_sql("SELECT count(*) FROM transactions")[0][0]
        client.execute_sql(f"DROP SCHEMA {name} CASCADE")
        client.execute_sql(f"DROP SCHEMA IF EXISTS {name}_staging CASCADE")
    return count / elapsed


def say(figure, rates):
    print(f"dlt {dlt.__version__} merge, {figure}\t{statistics.median(rates):.0f}\trows/s", flush=True)


say("default", [rate("peer_default", dictionaries, None)])
say("CSV", [rate(f"peer_csv_{n}", dictionaries, "csv") for n in range(2)])
say("Arrow and CSV", [rate(f"peer_arrow_{n}", tables, "csv") for n in range(3)])

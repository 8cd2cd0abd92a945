"""count.py SERVER-FOLDER KEY: the rows of a Parquet file in the bucket, as pyarrow's S3 client and DuckDB, and ClickHouse read them.

Prints a number for each reader. ClickHouse's is left out if chdb is not installed.
"""

import json
import os
import sys

import duckdb
import pyarrow.dataset
import pyarrow.fs

server, key = sys.argv[1:]
with open(os.path.join(server, "server.json"), encoding="utf-8") as file:
    client = json.load(file)["owner"]
endpoint = client["AWS_ENDPOINT_URL_S3"]
access, secret = client["AWS_ACCESS_KEY_ID"], client["AWS_SECRET_ACCESS_KEY"]
filesystem = pyarrow.fs.S3FileSystem(
    access_key=access,
    secret_key=secret,
    region=client["AWS_REGION"],
    scheme="http",
    endpoint_override=endpoint.removeprefix("http://"),
)
rows = pyarrow.dataset.dataset(f"ledger-bucket/{key}", filesystem=filesystem, format="parquet")
print(duckdb.sql("SELECT count(transaction_id) FROM rows").fetchall()[0][0])
try:
    import chdb
except ImportError:
    sys.exit(0)
print(str(chdb.query(f"SELECT count() FROM s3('{endpoint}/ledger-bucket/{key}', '{access}', '{secret}', 'Parquet')")).strip())

"""Builds the dbt package on PostgreSQL and on DuckDB, and compares the models of both.

Arguments: the package, the directory of the Parquet files, the database URL, the ledger's schema, a scratch folder.
Prints the number of rows of each mart, one line each, and the sum of gross_milliunits.
"""

import json
import os
import sys
from urllib.parse import parse_qs, unquote, urlsplit

package, parquet, url, schema, scratch = sys.argv[1:]
os.environ["DBT_TARGET_PATH"] = f"{scratch}/target"
os.environ["DBT_LOG_PATH"] = f"{scratch}/logs"
os.environ["DO_NOT_TRACK"] = "1"

import duckdb
import psycopg2
from dbt.cli.main import dbtRunner

parts = urlsplit(url)
query = parse_qs(parts.query)
server = {
    "host": parts.hostname or query.get("host", [""])[0],
    "port": int(parts.port or query.get("port", ["5432"])[0]),
    "user": unquote(parts.username or query.get("user", [""])[0]),
    "password": unquote(parts.password or ""),
    "dbname": parts.path.lstrip("/"),
}
profile = {
    "storeledger": {
        "target": "duckdb",
        "outputs": {
            "postgres": {"type": "postgres", "schema": "dbt_test", "threads": 2, **server},
            "duckdb": {"type": "duckdb", "path": f"{scratch}/test.duckdb", "threads": 2, "settings": {"TimeZone": "UTC"}},
        },
    }
}
with open(f"{scratch}/profiles.yml", "w") as file:
    json.dump(profile, file)

settings = json.dumps({"storeledger_schema": schema, "storeledger_parquet": parquet})
for target in ("postgres", "duckdb"):
    for command in (["build"], ["source", "freshness"]):
        result = dbtRunner().invoke(
            [*command, "--quiet", "--target", target, "--project-dir", package, "--profiles-dir", scratch, "--vars", settings]
        )
        if not result.success:
            print(f"{target}: dbt {' '.join(command)}: {result.exception or [r.message for r in result.result or []]}", file=sys.stderr)
            sys.exit(1)

marts = {
    "monthly_revenue": "app_id, month, product_id, storefront, currency, purchases, gross_milliunits, refunds, refunded_milliunits, net_milliunits",
    "subscriptions": "app_id, original_transaction_id, product_id, started_at, expires_date, periods, is_refunded, net_milliunits, will_renew",
    "daily_notifications": "app_id, day, notification_type, subtype, notifications",
}
postgres = psycopg2.connect(**server).cursor()
postgres.execute("SET TimeZone = 'UTC'")
duck = duckdb.connect(f"{scratch}/test.duckdb")
duck.execute("SET TimeZone = 'UTC'")


def rows_of(result):
    return sorted(tuple(str(cell) for cell in row) for row in result)


for mart, columns in marts.items():
    postgres.execute(f"SELECT {columns} FROM dbt_test.{mart}")
    one, other = rows_of(postgres.fetchall()), rows_of(duck.execute(f"SELECT {columns} FROM {mart}").fetchall())
    if one != other:
        print(f"{mart} differs: {list(set(one) ^ set(other))[:3]}", file=sys.stderr)
        sys.exit(1)
    print(mart, len(one))

# The ledger's own view, without seats, whose prices differ from seat to seat.
compared = "product_id, currency, month, sum(purchases)::bigint, sum(gross_milliunits)::bigint, sum(refunds)::bigint, sum(refunded_milliunits)::bigint"
seats = f"(SELECT product_id FROM {schema}.masked_transactions WHERE type = 'Auto-Renewable Subscription' AND quantity > 1)"
for relation in (f"{schema}.revenue_by_month", "dbt_test.monthly_revenue"):
    postgres.execute(
        f"SELECT {compared} FROM {relation} WHERE purchases + refunds > 0 AND product_id NOT IN {seats} GROUP BY 1, 2, 3"
    )
    found = rows_of(postgres.fetchall())
    if relation.endswith("revenue_by_month"):
        expected = found
if found != expected:
    print(f"revenue differs from revenue_by_month: {list(set(found) ^ set(expected))[:3]}", file=sys.stderr)
    sys.exit(1)
print("revenue_by_month", len(expected))

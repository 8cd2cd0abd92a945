"""Builds the dbt package on PostgreSQL and on DuckDB, compares the models of both, and queries the metrics with MetricFlow.

Arguments: the package, the directory of the Parquet files, the database URL, the ledger's schema, a scratch folder.
Prints the number of rows of each mart and of each comparison, one line each.
"""

import csv
import json
import os
import shutil
import subprocess
import sys
from urllib.parse import parse_qs, unquote, urlsplit

package, parquet, url, schema, scratch = sys.argv[1:]
# MetricFlow writes into the package.
package = shutil.copytree(package, f"{scratch}/package", ignore=shutil.ignore_patterns("target", "logs"))
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
    "monthly_revenue": "month, product_id, storefront, currency, purchases, gross_milliunits, refunds, refunded_milliunits, net_milliunits",
    "subscriptions": "original_transaction_id, product_id, started_at, expires_date, periods, is_refunded, net_milliunits, will_renew",
    "daily_notifications": "day, notification_type, subtype, notifications",
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

# Compares the metrics with the ledger's views. MetricFlow has no --vars and uses the variables of the package.
os.chdir(package)
os.environ["DBT_PROFILES_DIR"] = scratch
profile["storeledger"]["target"] = "postgres"
with open(f"{scratch}/profiles.yml", "w") as file:
    json.dump(profile, file)
if not dbtRunner().invoke(["parse", "--quiet"]).success:
    sys.exit("dbt parse fails")

for dimensions, sources in [
    (
        ["metric_time__month", "currency"],
        {
            "mrr": "SELECT month, currency, sum(mrr_amount) FROM mrr_by_month GROUP BY 1, 2",
            "arr": "SELECT month, currency, 12 * sum(mrr_amount) FROM mrr_by_month GROUP BY 1, 2",
            "net_revenue": "SELECT date_trunc('month', day)::date, currency, sum(net_amount) FROM revenue_by_day GROUP BY 1, 2",
            "lifetime_value": """SELECT DISTINCT ON (cohort_month, currency) cohort_month, currency, cumulative_amount / customers
                                   FROM lifetime_value_by_cohort ORDER BY cohort_month, currency, month_number DESC""",
        },
    ),
    (
        ["metric_time__month"],
        {
            "churn_rate": "SELECT month, sum(churned) / nullif(sum(active_at_start), 0) FROM renewals_and_churn_by_month GROUP BY 1",
            "trial_conversion_rate": """SELECT date_trunc('month', day)::date, sum(converted) / nullif(sum(started - running), 0)
                                          FROM trials_by_day GROUP BY 1""",
        },
    ),
]:
    names = list(sources)
    command = ["query", "--metrics", ",".join(names), "--group-by", ",".join(dimensions), "--csv", f"{scratch}/metrics.csv"]
    mf = subprocess.run(
        [sys.executable, "-c", "from dbt_metricflow.cli.main import cli; cli()", *command], capture_output=True, text=True
    )
    if mf.returncode != 0:
        sys.exit(f"mf {' '.join(command)}: {mf.stdout[-2000:]} {mf.stderr[-2000:]}")
    with open(f"{scratch}/metrics.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    for name, query in sources.items():
        answer = {(row[dimensions[0]][:10], *(row[d] for d in dimensions[1:])): float(row[name]) for row in rows if row[name]}
        postgres.execute(f"SET search_path = {schema}; {query}")
        wanted = {tuple(map(str, row[:-1])): float(row[-1]) for row in postgres.fetchall() if row[-1] is not None}
        differing = [key for key in answer.keys() | wanted.keys() if abs(answer.get(key, 1e99) - wanted.get(key, -1e99)) > 0.001]
        if differing:
            sys.exit(f"the metric {name} differs: {[(key, answer.get(key), wanted.get(key)) for key in sorted(differing)[:3]]}")
        print(name, len(wanted))

"""Puts the rows of a ledger into the tables of the baseline, the oldest schema that `migrate` upgrades."""

import os

from machine import ROOT

FIRST = ROOT + "/sql/migrations/0001_tables.sql"
# Rows that it did not have yet.
FILTERS = {"quoted_ids": "owner_kind NOT IN ('transaction', 'renewalInfo')", "crawl_items": "state <> 'superseded'"}
# Rates belonged to an app, from a day on.
RATES = (
    "INSERT INTO exchange_rates (app_id, reporting_currency, currency, valid_from, rate) "
    "SELECT a.app_id, r.reporting_currency, r.currency, r.day, r.rate FROM newer.exchange_rates r, newer.apps a"
)


def go_back(database):
    database.run("ALTER SCHEMA appstore RENAME TO newer", path="public")
    database.run("CREATE SCHEMA appstore", path="public")
    os.environ["PGOPTIONS"] = "-c search_path=appstore -c client_min_messages=warning"
    try:
        database.tool("psql", "-Xq", "-v", "ON_ERROR_STOP=1", "--single-transaction", "-d", database.url, "-f", FIRST)
    finally:
        del os.environ["PGOPTIONS"]
    for table in ("schema_migrations", "schema_definitions", "schema_views"):
        database.run(f"CREATE TABLE {table} (LIKE newer.{table} INCLUDING ALL)")
    database.run(f"INSERT INTO schema_migrations SELECT * FROM newer.schema_migrations WHERE name = '{os.path.basename(FIRST)}'")
    columns = {}
    for table, column in database.run(
        """
        SELECT o.table_name, o.column_name FROM information_schema.columns o
          JOIN information_schema.columns n USING (table_name, column_name)
         WHERE o.table_schema = 'appstore' AND n.table_schema = 'newer' AND o.table_name NOT LIKE 'refresh%' AND o.table_name NOT LIKE 'schema%'
           AND o.is_generated = 'NEVER' ORDER BY 1, o.ordinal_position
        """
    ):
        columns.setdefault(table, []).append(column)
    statements = ["SET session_replication_role = replica", RATES]
    del columns["exchange_rates"]
    for table, names in columns.items():
        listed = ", ".join(names)
        where = FILTERS.get(table, "true")
        statements.append(f"INSERT INTO {table} ({listed}) OVERRIDING SYSTEM VALUE SELECT {listed} FROM newer.{table} WHERE {where}")
    for table, column in database.run(
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'appstore' AND is_identity = 'YES'"
    ):
        statements.append(
            f"SELECT setval(pg_get_serial_sequence('{table}', '{column}'), greatest((SELECT max({column}) FROM {table}), 1))"
        )
    database.run("; ".join(statements))
    database.run("DROP SCHEMA newer CASCADE", path="public")

"""psycopg: COPY into a table with a key, and COPY to staging and merge, of the rows of a CSV file."""

import csv
import os
import statistics
import sys
import time

import psycopg

BATCH = 5000
RUNS = 3

with open(sys.argv[1], newline="", encoding="utf-8") as file:
    reader = csv.reader(file)
    columns = next(reader)
    lines = [[cell if cell != "" else None for cell in row] for row in reader]


def text_row(row):
    """One row in COPY's text format, encoded before the clock runs."""
    escaped = (
        "\\N"
        if cell is None
        else cell.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
        for cell in row
    )
    return ("\t".join(escaped) + "\n").encode()


rows = [text_row(line) for line in lines]
names = ", ".join(f'"{name}"' for name in columns)
merge = f"""
    INSERT INTO peer.merged AS t ({names})
    SELECT s.* FROM stage s LEFT JOIN LATERAL (
        SELECT h.signed_date FROM peer.merged h WHERE h.transaction_id = s.transaction_id OFFSET 0) h ON true
     WHERE h.signed_date IS NULL OR s.signed_date > h.signed_date
    ON CONFLICT (transaction_id) DO UPDATE SET
        {", ".join(f'"{name}" = excluded."{name}"' for name in columns if name != "transaction_id")}
     WHERE excluded.signed_date > t.signed_date"""


def copy(connection, table, batch):
    with connection.cursor() as cursor, cursor.copy(f"COPY {table} ({names}) FROM STDIN") as stream:
        stream.write(b"".join(batch))


def merge_all(connection):
    began = time.perf_counter()
    for start in range(0, len(rows), BATCH):
        copy(connection, "stage", rows[start : start + BATCH])
        connection.execute(merge)
        connection.commit()
    return len(rows) / (time.perf_counter() - began)


def empty(connection):
    connection.execute(f"DROP SCHEMA IF EXISTS peer CASCADE; CREATE SCHEMA peer")
    connection.execute(f"CREATE TABLE peer.merged AS SELECT {names} FROM loaded.transactions WITH NO DATA")
    connection.execute("ALTER TABLE peer.merged ADD PRIMARY KEY (transaction_id)")
    connection.commit()


def say(figure, rates):
    print(f"{figure}\t{statistics.median(rates):.0f}\trows/s", flush=True)


with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
    # As a loader has to set them: a staging table has no statistics.
    connection.execute("SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off")
    connection.execute(
        f"CREATE TEMP TABLE stage ON COMMIT DELETE ROWS AS SELECT {names} FROM loaded.transactions WITH NO DATA"
    )
    copied, new, unchanged = [], [], []
    for _ in range(RUNS):
        empty(connection)
        began = time.perf_counter()
        copy(connection, "peer.merged", rows)
        connection.commit()
        copied.append(len(rows) / (time.perf_counter() - began))
        empty(connection)
        new.append(merge_all(connection))
        unchanged.append(merge_all(connection))
    say("psycopg, COPY into a table with a key", copied)
    say("psycopg, COPY and merge, new rows", new)
    say("psycopg, COPY and merge, unchanged rows", unchanged)
    connection.execute("DROP SCHEMA peer CASCADE")
    connection.commit()

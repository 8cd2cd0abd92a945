-- A part of statements: the moment after which nothing has happened yet. PostgreSQL's clock has moved on since :latest_now.
greatest(:latest_now::timestamptz, clock_timestamp())

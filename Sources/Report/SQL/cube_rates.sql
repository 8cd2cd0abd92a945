-- A part of statements: each rate that a question needs, looked up once.
, rate AS MATERIALIZED (
    SELECT currency AS rated, rate_day AS rated_on, exchange_rate(:reporting::text, currency, rate_day) AS rate
      FROM (SELECT DISTINCT currency, :rate_day AS rate_day FROM (:question) raw) wanted
     WHERE currency IS NOT NULL
)

-- Stores rates to :reporting_currency, and counts them. Rates that are stored already are not written.
--
-- The arrays :days, :currencies, :units and :divisors have an element for each rate, which is :units divided by :divisors. PostgreSQL
-- divides to 16 or more significant digits.
--
-- A new or changed rate is doubtful if it is more than ten times the one before it or less than a tenth, or if its inverse is closer. A first
-- rate is doubtful if one unit is worth more than ten of a currency of which no other is worth as much.
WITH given AS MATERIALIZED (
    SELECT g.day::date AS day, g.currency, trim_scale(g.units::numeric / g.divisor::numeric) AS rate, e.rate AS known
      FROM unnest(:days::text[], :currencies::text[], :units::text[], :divisors::text[]) g (day, currency, units, divisor)
      LEFT JOIN exchange_rates e ON e.reporting_currency = :reporting_currency AND e.currency = g.currency AND e.day = g.day::date
), stored AS (
    INSERT INTO exchange_rates (reporting_currency, currency, day, rate)
    SELECT :reporting_currency, currency, day, rate FROM given WHERE rate IS DISTINCT FROM known
     -- The rates of a currency are then next to each other.
     ORDER BY currency, day
    ON CONFLICT (reporting_currency, currency, day) DO UPDATE SET rate = excluded.rate
), compared AS (
    SELECT g.currency, g.day, g.rate, g.known,
           coalesce(lag(g.rate) OVER (PARTITION BY g.currency ORDER BY g.day),
                    (SELECT e.rate FROM exchange_rates e
                      WHERE e.reporting_currency = :reporting_currency AND e.currency = g.currency AND e.day < g.day
                      ORDER BY e.day DESC LIMIT 1)) AS previous
      FROM given g
)
SELECT count(DISTINCT currency) AS currencies, count(DISTINCT day) AS days, min(day)::text AS first_day, max(day)::text AS last_day,
       count(*) FILTER (WHERE known IS NULL) AS new, count(*) FILTER (WHERE known <> rate) AS changed,
       count(*) FILTER (WHERE known = rate) AS unchanged,
       array_agg(format('1 %s is %s %s on %s, ', currency, rate, :reporting_currency, day)
                 || coalesce('after ' || previous, 'and there is none before it') ORDER BY currency, day)
           FILTER (WHERE rate IS DISTINCT FROM known AND CASE
                       WHEN previous IS NULL THEN rate > 10 AND :reporting_currency IN ('AUD', 'CAD', 'CHF', 'EUR', 'GBP', 'USD')
                       ELSE greatest(rate / previous, previous / rate) > 10
                            -- Near 1 a rate and its inverse are the same.
                         OR greatest(rate / previous, previous / rate) > 1.25 AND greatest(rate * previous, 1 / (rate * previous)) < 1.1
                       END) AS doubtful
  FROM compared

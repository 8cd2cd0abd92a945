-- Which currencies do the exchange rates convert to?
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW reporting_currencies AS
WITH RECURSIVE found (reporting_currency) AS (
    -- One look-up in the primary key for each currency. DISTINCT would read every rate.
    SELECT min(reporting_currency) FROM exchange_rates
    UNION ALL
    SELECT (SELECT min(e.reporting_currency) FROM exchange_rates e WHERE e.reporting_currency > f.reporting_currency)
      FROM found f WHERE f.reporting_currency IS NOT NULL
)
SELECT reporting_currency,
       reporting_currency = (
           SELECT f.reporting_currency
             FROM found f
             LEFT JOIN (SELECT currency, sum(purchases) AS purchases FROM refresh_daily_revenue_totals GROUP BY currency) paid
                    ON paid.currency = f.reporting_currency
            WHERE f.reporting_currency IS NOT NULL
            ORDER BY paid.purchases DESC NULLS LAST, f.reporting_currency LIMIT 1) AS is_default
  FROM found WHERE reporting_currency IS NOT NULL;
COMMENT ON VIEW reporting_currencies IS 'The currencies that exchange_rates converts to; empty while that table is empty.';
COMMENT ON COLUMN reporting_currencies.reporting_currency IS 'The currency of converted amounts, by its ISO 4217 code.';
COMMENT ON COLUMN reporting_currencies.is_default IS 'Whether most purchases of the ledger were paid in it, of all rows. True in one row.';

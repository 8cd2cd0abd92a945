-- The currency to which amounts are converted; no row without rates.
SELECT reporting_currency FROM reporting_currencies WHERE is_default

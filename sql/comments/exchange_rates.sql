COMMENT ON TABLE exchange_rates IS 'Exchange rates of days, for all apps. Optional: storeledger rates import fills the table. A reporting currency has no row for itself: its rate is 1.';
COMMENT ON COLUMN exchange_rates.reporting_currency IS 'The currency to convert to, by its ISO 4217 code.';
COMMENT ON COLUMN exchange_rates.currency IS 'The currency to convert from, by its ISO 4217 code.';
COMMENT ON COLUMN exchange_rates.day IS 'The day of the rate. It also applies to the days after it until the next row.';
COMMENT ON COLUMN exchange_rates.rate IS 'The value of one unit of currency in units of reporting_currency. Of rates through the euro, storeledger rates import stores 16 or more significant digits.';

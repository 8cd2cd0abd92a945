COMMENT ON TABLE exchange_rates IS 'The user''s own exchange rates. Optional: the user fills the table.';
COMMENT ON COLUMN exchange_rates.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN exchange_rates.reporting_currency IS 'The currency to convert to, by its ISO 4217 code.';
COMMENT ON COLUMN exchange_rates.currency IS 'The currency to convert from, by its ISO 4217 code.';
COMMENT ON COLUMN exchange_rates.valid_from IS 'The first day of the rate. The rate applies until valid_from of the next row.';
COMMENT ON COLUMN exchange_rates.rate IS 'The value of one unit of currency in units of reporting_currency.';

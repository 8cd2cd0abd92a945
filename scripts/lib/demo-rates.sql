-- What a user enters, with made-up figures: exchange rates to USD, the same each week, and a rule for proceeds. VND has no rate, so the converted
-- views have something to list in currencies_without_rate. Entering it again changes nothing.
INSERT INTO appstore.exchange_rates (reporting_currency, currency, day, rate)
SELECT 'USD', currency, week::date, rate
  FROM (VALUES ('EUR', 1.08), ('GBP', 1.27), ('CHF', 1.12), ('BRL', 0.18), ('INR', 0.012), ('JPY', 0.0067), ('KRW', 0.00073)) r (currency, rate)
 CROSS JOIN generate_series('2015-01-01'::date, now() AT TIME ZONE 'UTC', '1 week') week
    ON CONFLICT DO NOTHING;
INSERT INTO appstore.proceeds_rules (app_id, valid_from, tax, commission)
SELECT app_id, '2000-01-01', 0.19, 0.15 FROM appstore.apps
    ON CONFLICT DO NOTHING;

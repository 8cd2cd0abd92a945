-- Fills the totals of a migrated, empty schema, which must be first in the search_path, with the totals of :customers customers, 40 products and
-- 175 storefronts over two years, to measure the report.
--
-- The largest product and storefront have about a quarter of all purchases, the n-th ones a n-th part of that. The report reads
-- totals only, so there are no transactions. The same number gives the same data, relative to the day.
\set ON_ERROR_STOP on
\set QUIET on
SET synchronous_commit = off;
SET work_mem = '256MB';

INSERT INTO apps (bundle_id, environment, app_apple_id) VALUES ('com.example.game', 'Production', 1234567890)
    ON CONFLICT DO NOTHING;

-- A part of all purchases, by product and storefront. 24 products are subscriptions.
CREATE TEMP TABLE cell AS
SELECT 'com.example.game.' || (CASE WHEN p <= 24 THEN 'plus.' ELSE 'coins.' END) || p AS product_id, p <= 24 AS is_subscription,
       chr(65 + s / 26 % 26) || chr(65 + s % 26) || chr(65 + s * 7 % 26) AS storefront,
       (ARRAY['USD', 'EUR', 'JPY', 'GBP', 'CNY', 'INR', 'BRL', 'KRW', 'CAD', 'AUD', 'MXN', 'TRY', 'CHF', 'SEK', 'PLN', 'AED', 'SAR', 'THB',
              'IDR', 'VND', 'CLP', 'COP', 'PEN', 'ZAR', 'ILS', 'NOK', 'DKK', 'CZK', 'HUF', 'RON', 'HKD', 'SGD', 'TWD', 'MYR', 'PHP', 'NZD',
              'EGP', 'NGN', 'PKR', 'QAR', 'KZT', 'TZS', 'BGN', 'UAH'])[1 + (s - 1) % 44] AS currency,
       1 / (4.28 * 5.75 * p * s) AS part, (p * 7 + s * 3) % 5 * 2000 + 1990 AS price
  FROM generate_series(1, 40) p CROSS JOIN generate_series(1, 175) s;

-- How often something happens in a cell on a day, if it happens `daily` times in all: a whole number with that mean.
CREATE FUNCTION pg_temp.times(daily numeric, part numeric, seed text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT floor(daily * part + (hashtext(seed)::bigint + 2147483648) / 4294967296.0)::bigint
$$;
CREATE TEMP TABLE day AS
SELECT d::date AS day FROM generate_series((date_trunc('month', now()) - interval '24 months')::date, (now() AT TIME ZONE 'UTC')::date, '1 day') d;

CREATE TEMP TABLE month AS
SELECT month, row_number() OVER (ORDER BY month) AS place FROM (SELECT DISTINCT date_trunc('month', day)::date AS month FROM day) m;

INSERT INTO refresh_daily_revenue_totals (app_id, day, product_id, storefront, currency, purchases, new_payments, renewal_payments,
                                          gross_milliunits, new_milliunits, renewal_milliunits, refunds, refunded_milliunits)
SELECT 1, day, product_id, storefront, currency, n, n / 5, CASE WHEN is_subscription THEN n - n / 5 ELSE 0 END, n * price,
       CASE WHEN is_subscription THEN n / 5 * price ELSE 0 END, CASE WHEN is_subscription THEN (n - n / 5) * price ELSE 0 END, n / 40, n / 40 * price
  FROM cell CROSS JOIN day CROSS JOIN LATERAL pg_temp.times(:customers / 30.0, part, product_id || storefront || day) n WHERE n > 0;
INSERT INTO refresh_revenue_totals (app_id, month, product_id, type, storefront, currency, purchases, units, free_purchases, gross_milliunits,
                                    refunds, refunded_milliunits, without_price, estimated_upgrade_refunds, estimated_upgrade_refund_milliunits)
SELECT 1, date_trunc('month', day)::date, product_id, CASE WHEN is_subscription THEN 'Auto-Renewable Subscription' ELSE 'Consumable' END, storefront,
       currency, sum(purchases), sum(purchases), 0, sum(gross_milliunits), sum(refunds), sum(refunded_milliunits), 0, sum(purchases) / 500,
       sum(gross_milliunits) / 900
  FROM refresh_daily_revenue_totals JOIN cell USING (product_id, storefront, currency) GROUP BY 2, product_id, 4, storefront, currency;
INSERT INTO refresh_refund_rate_totals (app_id, month, product_id, storefront, currency, purchases, refunded, refunded_for_an_issue,
                                        gross_milliunits, refunded_milliunits)
SELECT 1, month, product_id, storefront, currency, purchases, refunds, refunds / 3, gross_milliunits, refunded_milliunits FROM refresh_revenue_totals;
INSERT INTO refresh_refund_request_totals (app_id, month, product_id, storefront, currency, requests, refunded, declined, reversed, pending,
                                           requested_milliunits, refunded_without_request, declined_without_request)
SELECT 1, month, product_id, storefront, currency, refunds * 2, refunds, refunds - refunds / 10, refunds / 20, refunds / 10 - refunds / 20,
       refunded_milliunits * 2, refunds / 5, 0 FROM refresh_revenue_totals WHERE refunds > 0;
INSERT INTO refresh_movement_totals (app_id, day, product_id, storefront, new, resubscribed, expired, switched_in, switched_out)
SELECT 1, day, product_id, storefront, n, n / 6, n * 9 / 10, 0, 0
  FROM cell CROSS JOIN day CROSS JOIN LATERAL pg_temp.times(:customers / 300.0, part, storefront || product_id || day) n WHERE n > 0 AND is_subscription;
INSERT INTO refresh_new_subscription_totals (app_id, day, product_id, storefront, new, trial_conversions, introductory, direct, direct_with_offer)
SELECT 1, day, product_id, storefront, new, new / 2, new / 5, new - new / 2 - new / 5, new / 20 FROM refresh_movement_totals;
INSERT INTO refresh_trial_totals (app_id, day, product_id, storefront, started, converted, running, will_not_renew, lost)
SELECT 1, day, product_id, storefront, new, new / 2, 0, 0, new - new / 2 FROM refresh_movement_totals;
INSERT INTO refresh_new_customer_totals (app_id, day, product_id, storefront, customers, paying_customers)
SELECT 1, day, product_id, storefront, n, n / 2
  FROM cell CROSS JOIN day CROSS JOIN LATERAL pg_temp.times(:customers / 700.0, part, day || storefront || product_id) n WHERE n > 0;
INSERT INTO refresh_cancellation_totals (app_id, day, product_id, storefront, currency, cancelled, cancelled_trials, resumed, resumed_trials,
                                         cancelled_mrr_milliunits, resumed_mrr_milliunits)
SELECT 1, m.day, product_id, storefront, currency, expired, expired / 3, expired / 9, 0, 0, 0
  FROM refresh_movement_totals m JOIN cell USING (product_id, storefront) WHERE m.day > now() - interval '180 days' AND expired > 0;
INSERT INTO refresh_active_totals (app_id, product_id, day, events, paid, trials, started)
SELECT 1, product_id, day, sum(new), sum(new + resubscribed - expired), sum(new) / 9, sum(new) FROM refresh_movement_totals GROUP BY product_id, day;
INSERT INTO refresh_mrr_totals (app_id, month, product_id, period, storefront, currency, subscriptions, without_mrr, mrr_milliunits)
SELECT 1, month, product_id, 'P1M', storefront, currency, sum(net), 0, sum(net) * price
  FROM (SELECT date_trunc('month', day)::date AS month, product_id, storefront, new + resubscribed - expired AS net FROM refresh_movement_totals) m
  JOIN cell USING (product_id, storefront) GROUP BY month, product_id, storefront, currency, price;
INSERT INTO refresh_mrr_movement_totals
SELECT 1, month, currency, sum(mrr_milliunits), 0, 0, 0, 0, 0, 0, sum(subscriptions), 0, 0, 0, 0 FROM refresh_mrr_totals GROUP BY month, currency;
INSERT INTO refresh_mrr_at_risk_totals (app_id, month, product_id, storefront, currency, subscriptions, mrr_milliunits, will_not_renew,
                                        will_not_renew_mrr_milliunits, in_grace_period, in_grace_period_mrr_milliunits, at_risk_mrr_milliunits,
                                        renewal_unknown, reported_by_apple, not_active_by_apple)
SELECT 1, (date_trunc('month', now()) + ahead * interval '1 month')::date, product_id, storefront, currency, n, n * price, n / 4, n / 4 * price, n / 50,
       n / 50 * price, n / 4 * price + n / 50 * price, 0, 0, 0
  FROM cell CROSS JOIN generate_series(0, 11) ahead CROSS JOIN LATERAL pg_temp.times(:customers / 40.0, part, product_id || storefront || ahead) n
 WHERE n > 0 AND is_subscription;
INSERT INTO refresh_status_totals (app_id, product_id, storefront, currency, status, subscriptions, paid, trials, family_shared, will_renew,
                                   will_not_renew, mrr_milliunits, trials_will_not_renew, reported_by_apple)
SELECT 1, product_id, storefront, currency, status, n, n, 0, 0, n, 0, n * price, 0, 0
  FROM cell CROSS JOIN unnest(ARRAY['active', 'grace period', 'billing retry', 'expired', 'revoked']) status
 CROSS JOIN LATERAL pg_temp.times(:customers / 6.0, part, product_id || storefront || status) n WHERE n > 0 AND is_subscription;
INSERT INTO refresh_cohort_totals (app_id, cohort_month, product_id, period, month, subscriptions, retained)
SELECT 1, c.month, product_id, 'P1M', m.month, CASE WHEN m.month = c.month THEN n ELSE 0 END, n - n * (m.place - c.place) / 30
  FROM (SELECT DISTINCT product_id FROM cell WHERE is_subscription) product
 CROSS JOIN month c JOIN month m ON m.month >= c.month
 CROSS JOIN LATERAL pg_temp.times(:customers / 100.0, 0.04, product_id || c.month) n;
INSERT INTO refresh_renewal_totals (app_id, product_id, period, payment_number, subscriptions, due, renewed)
SELECT 1, product_id, 'P1M', number, :customers / 100 / number, :customers / 110 / number, :customers / 130 / number
  FROM (SELECT DISTINCT product_id FROM cell WHERE is_subscription) product CROSS JOIN generate_series(1, 24) number;
INSERT INTO refresh_average_revenue_totals (app_id, month, currency, customers, paying_customers, net_milliunits)
SELECT 1, month, currency, sum(purchases), sum(purchases) / 2 + 1, sum(gross_milliunits - refunded_milliunits) FROM refresh_revenue_totals GROUP BY month, currency;
INSERT INTO refresh_lifetime_value_totals (app_id, cohort_month, currency, month, customers, net_milliunits)
SELECT 1, c.month, currency, m.month, CASE WHEN m.month = c.month THEN c.customers ELSE 0 END, c.customers * 3000
  FROM refresh_average_revenue_totals c JOIN (SELECT DISTINCT month FROM refresh_average_revenue_totals) m ON m.month >= c.month;
INSERT INTO refresh_offer_redemption_totals (app_id, month, product_id, storefront, is_trial, offer_type, offer_discount_type, offer_identifier, redemptions)
SELECT 1, date_trunc('month', day)::date, product_id, storefront, true, 1, 'FREE_TRIAL', NULL, sum(started) FROM refresh_trial_totals
 GROUP BY 2, product_id, storefront;
INSERT INTO refresh_offer_conversion_totals (app_id, month, product_id, storefront, is_trial, offer_type, offer_discount_type, offer_identifier,
                                             started, converted, running, lost)
SELECT 1, date_trunc('month', day)::date, product_id, storefront, true, 1, 'FREE_TRIAL', NULL, sum(started), sum(converted), 0, sum(lost)
  FROM refresh_trial_totals GROUP BY 2, product_id, storefront;
INSERT INTO exchange_rates (reporting_currency, currency, day, rate)
SELECT 'USD', currency, day, round((0.1 + abs(hashtext(currency)) % 100 / 80.0 + abs(hashtext(currency || day)) % 100 / 10000.0)::numeric, 6)
  FROM (SELECT DISTINCT currency FROM cell) c CROSS JOIN day WHERE currency NOT IN ('USD', 'VND', 'CLP', 'KZT', 'TZS');
ANALYZE;

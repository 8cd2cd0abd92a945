-- Which tables and functions did a second definition of each view need?
--
-- refresh --verify computes everything again and compares, so the tables and functions of the earlier comparison go, with the views that
-- read them. From now on, migrate makes each table of totals from its view of changes.
DROP TABLE IF EXISTS kept_subscription_periods, kept_subscription_months, kept_current_subscriptions, kept_purchases CASCADE;
DROP FUNCTION IF EXISTS keep_for_refresh(text), kept_columns(regclass), unless_kept(anyelement), keep_product_periods() CASCADE;

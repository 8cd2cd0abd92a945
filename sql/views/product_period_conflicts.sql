-- Which periods in products contradict the dates of Apple's transactions?
--
-- products.period takes precedence over every other source, so a wrong value makes all MRR of the product wrong.
-- Periods are compared by length, because P7D and P1W, or P12M and P1Y, mean the same.
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW product_period_conflicts AS
SELECT p.app_id, p.product_id, p.period AS entered_period, u.period AS usual_period
FROM products p
JOIN product_periods u ON u.app_id = p.app_id AND u.product_id = p.product_id
-- Compared by length, because P7D and P1W, or P12M and P1Y, mean the same.
CROSS JOIN LATERAL (
    SELECT substring(p.period FROM '[0-9]+')::numeric
           * CASE right(p.period, 1) WHEN 'D' THEN 1 WHEN 'W' THEN 7 WHEN 'M' THEN 30.4 WHEN 'Y' THEN 365 END AS entered,
           substring(u.period FROM '[0-9]+')::numeric
           * CASE right(u.period, 1) WHEN 'D' THEN 1 WHEN 'W' THEN 7 WHEN 'M' THEN 30.4 WHEN 'Y' THEN 365 END AS usual
) days
WHERE days.entered NOT BETWEEN days.usual * 0.9 AND days.usual * 1.1;
COMMENT ON VIEW product_period_conflicts IS
    'Products whose period in products differs from the length of most of their periods. StoreLedger still uses products.period. Correct it, or keep it if the dates are misleading.';
COMMENT ON COLUMN product_period_conflicts.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN product_period_conflicts.product_id IS 'Apple''s productId.';
COMMENT ON COLUMN product_period_conflicts.entered_period IS 'The period in products, as an ISO 8601 duration.';
COMMENT ON COLUMN product_period_conflicts.usual_period IS 'The period derived from dates as of the last refresh, as an ISO 8601 duration.';

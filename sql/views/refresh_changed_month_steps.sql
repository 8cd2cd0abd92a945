-- How does each span of a changed subscription follow the one before it?
CREATE OR REPLACE VIEW refresh_changed_month_steps AS
SELECT
    *,
    lag(until_month) OVER subscription AS before_until_month, lag(currency) OVER subscription AS before_currency,
    coalesce(lag(mrr_milliunits) OVER subscription, 0) AS before_mrr,
    lead(from_month) OVER subscription AS after_from_month, lead(currency) OVER subscription AS after_currency
FROM refresh_changed_month_spans
WINDOW subscription AS (PARTITION BY sign, app_id, original_transaction_id ORDER BY period_number, from_month);

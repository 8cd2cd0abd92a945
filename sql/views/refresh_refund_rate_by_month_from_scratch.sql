-- What does refund_rate_by_month show when it is computed from every record?
--
-- storeledger refresh --verify compares the two. Both have the columns of refund_rate_by_month.
CREATE OR REPLACE VIEW refresh_refund_rate_by_month_from_scratch AS
SELECT
    app_id, month, product_id, storefront, currency,
    sum(purchases)::bigint AS purchases,
    sum(refunded)::bigint AS refunded,
    round(sum(refunded) / sum(purchases), 4) AS refund_rate,
    sum(for_an_issue)::bigint AS refunded_for_an_issue,
    sum(gross)::bigint AS gross_milliunits,
    sum(given_back)::bigint AS refunded_milliunits,
    max(median_delay) AS median_delay,
    sum(gross) * 0.001 AS gross_amount,
    sum(given_back) * 0.001 AS refunded_amount
FROM (
    SELECT app_id, month, product_id, storefront, currency, count(*) AS purchases,
           count(*) FILTER (WHERE is_refunded) AS refunded,
           count(*) FILTER (WHERE is_refunded AND refund_reason = 1) AS for_an_issue,
           coalesce(sum(price_milliunits), 0) AS gross, coalesce(sum(refunded_milliunits), 0) AS given_back,
           NULL::interval AS median_delay
      FROM purchases_at_refresh WHERE is_paid AND month IS NOT NULL
     GROUP BY app_id, month, product_id, storefront, currency
    UNION ALL
    -- Computed separately, because a median sorts its input: only the few refunded purchases are sorted.
    SELECT app_id, month, product_id, storefront, currency, 0, 0, 0, 0, 0,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY refund_date - purchase_date)
      FROM purchases_at_refresh WHERE is_paid AND month IS NOT NULL AND is_refunded
     GROUP BY app_id, month, product_id, storefront, currency
) counted
GROUP BY app_id, month, product_id, storefront, currency;

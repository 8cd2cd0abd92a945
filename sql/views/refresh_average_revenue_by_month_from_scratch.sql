-- What does average_revenue_by_month show when it is computed from every record?
--
-- storeledger refresh --verify compares the two. Both have the columns of average_revenue_by_month.
CREATE OR REPLACE VIEW refresh_average_revenue_by_month_from_scratch AS
SELECT
    app_id, month, currency,
    count(*) AS customers,
    count(*) FILTER (WHERE is_payer) AS paying_customers,
    sum(net)::bigint AS net_milliunits,
    round(sum(net) / count(*))::bigint AS arpu_milliunits,
    round(sum(net) / nullif(count(*) FILTER (WHERE is_payer), 0))::bigint AS arppu_milliunits,
    sum(net) * 0.001 AS net_amount,
    round(sum(net) / count(*)) * 0.001 AS arpu_amount,
    round(sum(net) / nullif(count(*) FILTER (WHERE is_payer), 0)) * 0.001 AS arppu_amount
FROM (
    SELECT app_id, month, currency, customer_key, bool_or(is_paid) AS is_payer, coalesce(sum(net_milliunits) FILTER (WHERE is_paid), 0) AS net
      FROM purchases_at_refresh WHERE month IS NOT NULL
     GROUP BY app_id, month, currency, customer_key
) customer
GROUP BY app_id, month, currency;

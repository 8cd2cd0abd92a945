-- How many products, storefronts and currencies together had sales in the last month that is over, and for how many months there are sales.
SELECT count(*) FILTER (WHERE month = (date_trunc('month', now()) - interval '1 month')::date) AS cells, count(DISTINCT month) AS months
  FROM revenue_by_month WHERE app_id = ANY (:apps::text[]::integer[])

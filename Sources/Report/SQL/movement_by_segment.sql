-- Paid subscriptions and their movement in the last complete month, by the column that :segment stands for.
SELECT :segment, :movement_sums FROM subscription_movement_by_month
 WHERE app_id = :app AND month = (date_trunc('month', now()) - interval '1 month')::date
 GROUP BY :segment ORDER BY sum(opening) + sum(new) DESC, :segment

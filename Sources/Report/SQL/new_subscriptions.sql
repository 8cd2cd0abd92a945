-- New paid subscriptions by day.
SELECT v.day::text AS day, sum(trial_conversions) AS after_trial, sum(introductory) AS introductory,
       sum(direct) AS direct, sum(direct_with_offer) AS with_offer, sum(new) AS new
  FROM new_subscriptions_by_day v WHERE app_id = :app AND v.day >= :since_day GROUP BY v.day ORDER BY v.day DESC

-- Redemptions by month and kind of offer.
SELECT to_char(month, 'YYYY-MM') AS month, coalesce(sum(redemptions) FILTER (WHERE offer = 'free trial'), 0) AS trial,
       coalesce(sum(redemptions) FILTER (WHERE offer = 'introductory'), 0) AS introductory,
       coalesce(sum(redemptions) FILTER (WHERE offer = 'promotional'), 0) AS promotional,
       coalesce(sum(redemptions) FILTER (WHERE offer = 'offer code'), 0) AS code,
       coalesce(sum(redemptions) FILTER (WHERE offer = 'win-back'), 0) AS win_back,
       coalesce(sum(redemptions) FILTER (WHERE offer IS NULL OR offer NOT IN
           ('free trial', 'introductory', 'promotional', 'offer code', 'win-back')), 0) AS other,
       sum(redemptions) AS total
  FROM offer_redemptions_by_month v WHERE app_id = :app GROUP BY v.month ORDER BY v.month DESC

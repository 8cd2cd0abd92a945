-- Clears followed_until and refunds_followed_until of runs where they were set while PostgreSQL's clock was ahead.
UPDATE runs SET followed_until = CASE WHEN followed_until <= :latest_moment THEN followed_until END,
       refunds_followed_until = CASE WHEN refunds_followed_until <= :latest_moment THEN refunds_followed_until END
 WHERE app_id = :app AND job = :job
   AND greatest(followed_until, refunds_followed_until) > :latest_moment

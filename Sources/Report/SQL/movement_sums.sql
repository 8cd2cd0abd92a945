-- A part of statements: the movement of paid subscriptions.
sum(opening) AS opening, sum(new) AS new, sum(resubscribed) AS resubscribed, sum(switched_in) AS switched_in,
sum(expired) AS expired, sum(switched_out) AS switched_out, sum(closing) AS closing, sum(churned) AS churned

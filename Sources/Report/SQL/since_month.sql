-- A part of statements: the first of the last 24 months, for figures without a chart by month.
(date_trunc('month', now()) - interval '24 months')::date

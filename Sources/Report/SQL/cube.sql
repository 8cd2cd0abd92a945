-- The frame of a question whose figures the page adds up by what a reader chooses: it sums them by period and segment.
--
-- The largest products, storefronts and currencies keep their place in the parameters, from 1. Amounts are summed by day and currency, then
-- converted at the rate of the day, and then summed by period. Parts of the statement follow from the columns of the chart. PostgreSQL cannot
-- infer the type of a parameter that a question does not use, so all are used here.
WITH asked AS (
    SELECT :apps::text[], :products::text[], :storefronts::text[], :currencies::text[], :days_from::text::date, :reporting::text
):rates
SELECT :names :sums
  FROM (SELECT :firsts
          FROM (:question) raw :places
         GROUP BY :first_groups) day_sums :joined
 GROUP BY :groups :order

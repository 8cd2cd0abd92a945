-- One row for each day since the App Store opened: MetricFlow needs it.
select cast(day as date) as day
  from generate_series(timestamp '2008-07-10', current_date + interval '1 year', interval '1 day') as days (day)

-- A part of statements: the first day of daily figures. It is a Monday, so that the first week is complete.
date_trunc('week', now() - interval '24 months')::date

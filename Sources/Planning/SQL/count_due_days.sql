-- The number of closed days that are due for their second reading.
SELECT count(*) AS days FROM (:due_days) due

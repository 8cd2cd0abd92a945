-- Time that Apple no longer serves, by history.
SELECT stream, count(*) AS gaps,
       to_char(min(gap_start), 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS first,
       to_char(max(gap_end), 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS last
  FROM masked_coverage_gaps WHERE app_id = :app AND job = :job GROUP BY stream ORDER BY count(*) DESC, stream

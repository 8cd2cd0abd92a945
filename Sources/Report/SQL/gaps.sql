-- title: Time that Apple no longer serves
-- section: operations
-- means: The job's gaps by history: what Apple had deleted before a crawl came.
-- docs: ../reference/tables.md
-- nothing: There is no gap.
-- views: masked_coverage_gaps
-- flags: plain
-- column: stream | text | History
-- column: gaps | count | Gaps
-- column: first | moment | From, UTC
-- column: last | moment | Until, UTC
SELECT stream, count(*) AS gaps,
       to_char(min(gap_start), 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS first,
       to_char(max(gap_end), 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS last
  FROM masked_coverage_gaps WHERE app_id = :app AND job = :job GROUP BY stream ORDER BY count(*) DESC, stream

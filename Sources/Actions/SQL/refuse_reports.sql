-- Says which reports have a line that the ledger refuses.
INSERT INTO stage_action_facts (position, extensions, refusal)
SELECT DISTINCT ON (s.report) s.report, 0, ARRAY[s.rule, format('row %s: %s', s.position, s.reason)]
  FROM stage_input_rows s WHERE s.is_of_ledger
 ORDER BY s.report, s.position

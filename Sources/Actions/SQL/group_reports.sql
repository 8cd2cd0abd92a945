-- Makes a row of each report, with its lines in the order of the input.
--
-- A report with a line that cannot be sent is not sent, because Apple takes all lines or none. A line that only the ledger refuses makes
-- the report ineligible: see refuse_reports.sql.
INSERT INTO stage_action_rows (position, line, input, parameters, subject, rule, reason)
SELECT s.report, min(s.line), '{}'::text[],
       CASE WHEN NOT bool_or(s.rule IS NOT NULL AND NOT s.is_of_ledger)
            THEN jsonb_build_object('external_purchase_id', min(s.subject), 'status', min(s.parameters ->> 'status'))
                 || CASE WHEN min(s.parameters ->> 'status') = 'LINE_ITEM'
                         THEN jsonb_build_object('line_items', jsonb_agg(s.parameters - 'external_purchase_id' - 'status' ORDER BY s.position))
                         ELSE '{}' END END,
       CASE WHEN NOT bool_or(s.rule IS NOT DISTINCT FROM 'erased') THEN min(s.subject) END,
       (array_agg(s.rule ORDER BY s.rule <> 'erased', s.position) FILTER (WHERE s.rule IS NOT NULL AND NOT s.is_of_ledger))[1],
       (array_agg(format('row %s: %s', s.position, s.reason) ORDER BY s.rule <> 'erased', s.position)
           FILTER (WHERE s.rule IS NOT NULL AND NOT s.is_of_ledger))[1]
  FROM stage_input_rows s
 GROUP BY s.report

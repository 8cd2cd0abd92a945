-- Writes the rows of the input, each with what keeps it from being sent: its own problem, or that of its report.
--
-- A row of an erased customer has no content, and neither has any other row of its report.
INSERT INTO action_input_rows (app_id, batch_id, input_position, position, line, input, line_item_id, parameters, rule, reason)
SELECT r.app_id, r.batch_id, s.position, s.report, s.line,
       CASE WHEN r.rule = 'erased' THEN '{}' ELSE s.input END,
       CASE WHEN r.rule IS DISTINCT FROM 'erased' THEN s.parameters ->> 'line_item_id' END,
       CASE WHEN r.rule IS DISTINCT FROM 'erased' THEN s.parameters END,
       CASE WHEN r.verdict = 'same' THEN r.rule ELSE coalesce(s.rule, r.rule) END,
       CASE WHEN r.verdict = 'same' THEN r.reason
            WHEN s.rule IS NOT NULL THEN s.reason
            WHEN r.verdict IN ('invalid', 'ineligible') THEN format('its report is not sent, because of %s', r.reason)
            ELSE r.reason END
  FROM stage_input_rows s
  JOIN action_rows r ON r.app_id = :app AND r.batch_id = :batch AND r.position = s.report

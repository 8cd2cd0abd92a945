-- Gives rows about an undelivered purchase the consumption_percentage that Apple demands.
UPDATE stage_action_rows s SET parameters = s.parameters || undelivered_percentage(f.type, s.parameters)
  FROM stage_action_facts f
 WHERE f.position = s.position AND undelivered_percentage(f.type, s.parameters) <> '{}'

COMMENT ON TABLE action_input_rows IS
    'The rows of the input of an action that makes one request of several of them: the lines of external purchase reports. The request is the row of action_rows.';
COMMENT ON COLUMN action_input_rows.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN action_input_rows.batch_id IS 'The batch; see action_batches.';
COMMENT ON COLUMN action_input_rows.input_position IS 'The place of the row in the input, from 1.';
COMMENT ON COLUMN action_input_rows.position IS 'The request that the row is part of: action_rows.position, the place of its first row.';
COMMENT ON COLUMN action_input_rows.line IS 'The line of the input file. NULL for a query.';
COMMENT ON COLUMN action_input_rows.input IS 'The kept cells of the row; action_batches.input_columns has their names. Empty if the row names an erased customer.';
COMMENT ON COLUMN action_input_rows.line_item_id IS 'Apple''s lineItemId: identifies a line of all reports of the app. NULL for a row without a line item.';
COMMENT ON COLUMN action_input_rows.parameters IS 'The normalised values by column. NULL for an invalid row.';
COMMENT ON COLUMN action_input_rows.rule IS 'The rule of the plan that keeps the row from being sent: its own, or that of its report. NULL for a valid row.';
COMMENT ON COLUMN action_input_rows.reason IS 'The same as a sentence. NULL for a valid row.';

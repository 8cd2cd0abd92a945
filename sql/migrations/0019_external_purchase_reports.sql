-- The rows of the input of actions whose request is made of several of them: the lines of external purchase reports.
CREATE TABLE action_input_rows (
    app_id         integer NOT NULL,
    batch_id       uuid    NOT NULL,
    input_position bigint  NOT NULL,
    position       bigint  NOT NULL,
    line           bigint,
    input          text[]  NOT NULL,
    line_item_id   text,
    parameters     jsonb,
    rule           text,
    reason         text,
    PRIMARY KEY (app_id, batch_id, input_position),
    FOREIGN KEY (app_id, batch_id, position) REFERENCES action_rows (app_id, batch_id, position) ON DELETE CASCADE
);
ALTER TABLE action_input_rows ALTER COLUMN input SET STATISTICS 0,
    ALTER COLUMN line_item_id SET STATISTICS 0,
    ALTER COLUMN parameters SET STATISTICS 0,
    ALTER COLUMN reason SET STATISTICS 0;
CREATE INDEX action_input_rows_position ON action_input_rows (app_id, batch_id, position);
CREATE INDEX action_input_rows_line_item_id ON action_input_rows (app_id, line_item_id) WHERE line_item_id IS NOT NULL;
CREATE INDEX action_input_rows_reference ON action_input_rows (app_id, (parameters ->> 'reference_line_item_id'))
 WHERE parameters ->> 'reference_line_item_id' IS NOT NULL;

-- Which received notifications still have to be posted to further servers, and which could not be delivered?
--
-- 1. A row is one notification for one URL of receiver.forward. It is written in the transaction that stores the notification, with the body as
--    Apple posted it. It is deleted when the server has answered 2xx, so the table has only what is left to do.
-- 2. Receivers of one app share the work. A receiver that takes a row moves due_at to the end of its lease and counts an attempt. Only the holder
--    of the last attempt can end the row.
-- 3. Of a customer's rows for one URL, only the one with the lowest forward_id can be taken. So they are delivered in order.
-- 4. A row that is not delivered within its term is given up: it loses the body and stays for a while, so that it can be seen.
CREATE TABLE forwards (
    app_id            integer     NOT NULL REFERENCES apps,
    forward_id        bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    destination       text        NOT NULL,
    notification_uuid text        NOT NULL,
    customer          text        NOT NULL,
    stored_at         timestamptz NOT NULL DEFAULT now(),
    due_at            timestamptz NOT NULL DEFAULT now(),
    attempts          integer     NOT NULL DEFAULT 0,
    last_error        text,
    given_up_at       timestamptz,
    body              bytea,
    PRIMARY KEY (app_id, forward_id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, toast.autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE forwards ALTER COLUMN notification_uuid SET STATISTICS 0,
    ALTER COLUMN customer SET STATISTICS 0,
    ALTER COLUMN body SET STATISTICS 0,
    ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE INDEX forwards_due ON forwards (app_id, destination, due_at, forward_id) WHERE given_up_at IS NULL;
CREATE INDEX forwards_undelivered ON forwards (app_id, stored_at) WHERE given_up_at IS NULL;
CREATE INDEX forwards_given_up ON forwards (app_id, given_up_at) WHERE given_up_at IS NOT NULL;
CREATE INDEX forwards_customer ON forwards (app_id, customer, destination, forward_id);
CREATE INDEX forwards_notification ON forwards (app_id, notification_uuid);

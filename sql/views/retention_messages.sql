-- Which retention messages and images did jobs upload, what did Apple last say of them, and where is each message the default?
--
-- One row for each app_id, kind, id. What other programs upload or delete is known only after a plan.
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW retention_messages AS
WITH requests AS (
    SELECT r.app_id, r.subject, r.parameters, r.parameters ->> 'kind' AS kind, r.verdict, r.answer, r.first_sent_at, b.job,
           coalesce(r.ended_at, r.last_sent_at, b.planned_at) AS seen_at
      FROM action_batches b JOIN action_rows r ON r.app_id = b.app_id AND r.batch_id = b.batch_id
     WHERE b.action = 'publishRetentionMessages' AND r.subject IS NOT NULL
       AND (r.verdict = 'same' OR r.state = 'succeeded'
            OR r.parameters ->> 'kind' IN ('image', 'message') AND (r.may_be_applied OR r.answer ? 'accepted'))
), uploads AS (
    SELECT DISTINCT ON (q.app_id, q.subject) q.* FROM requests q
     WHERE q.kind IN ('image', 'message') AND q.verdict = 'valid'
     ORDER BY q.app_id, q.subject, q.first_sent_at DESC NULLS LAST
), last AS (
    SELECT DISTINCT ON (q.app_id, q.subject) q.* FROM requests q ORDER BY q.app_id, q.subject, q.seen_at DESC
)
SELECT u.app_id, u.kind, split_part(u.subject, '/', 2) AS id, u.job,
       u.parameters ->> 'header' AS header, u.parameters ->> 'body' AS body,
       u.parameters ->> 'image_id' AS image_id, u.parameters ->> 'image_file' AS image_file, u.first_sent_at AS uploaded_at,
       CASE WHEN l.kind LIKE 'delete%' THEN 'DELETED' ELSE coalesce(l.answer ->> 'state', 'PENDING') END AS state, l.seen_at AS state_seen_at,
       ARRAY(SELECT substr(d.subject, length('default/') + 1) FROM last d
              WHERE d.app_id = u.app_id AND d.kind = 'default' AND d.parameters ->> 'message_id' = split_part(u.subject, '/', 2)
              ORDER BY 1) AS default_for
  FROM uploads u JOIN last l ON l.app_id = u.app_id AND l.subject = u.subject;
COMMENT ON VIEW retention_messages IS
    'The retention messages and images that jobs uploaded, with the state that Apple last told, and the products and languages of which a message is the default.';
COMMENT ON COLUMN retention_messages.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN retention_messages.kind IS 'image or message.';
COMMENT ON COLUMN retention_messages.id IS 'The identifier under which it was uploaded.';
COMMENT ON COLUMN retention_messages.job IS 'The job that uploaded it last.';
COMMENT ON COLUMN retention_messages.header IS 'The header of a message; NULL for an image.';
COMMENT ON COLUMN retention_messages.body IS 'The body of a message; NULL for an image.';
COMMENT ON COLUMN retention_messages.image_id IS 'The image of a message, or of an image its own identifier; NULL for a message without one.';
COMMENT ON COLUMN retention_messages.image_file IS 'The file of an image, as the folder names it; NULL for a message.';
COMMENT ON COLUMN retention_messages.uploaded_at IS 'When its upload was sent for the first time.';
COMMENT ON COLUMN retention_messages.state IS 'PENDING, APPROVED or REJECTED as Apple told it last, or DELETED by a job.';
COMMENT ON COLUMN retention_messages.state_seen_at IS 'When a plan or a run saw the state.';
COMMENT ON COLUMN retention_messages.default_for IS 'The products and languages of which the message is the default, such as com.example.monthly/en-US.';

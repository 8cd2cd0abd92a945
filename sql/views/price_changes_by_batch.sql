-- What happened to the subscriptions whose prices were changed: communicated, accepted, renewed or lost?
--
-- One row for each app_id, job, batch, occurrence. A batch of changeSubscriptionPrice is a cohort of a campaign. The counts are of the rows
-- that Apple applied. A subscription is renewed when it has a transaction that was bought after the request. It is lost when it has not renewed, and its
-- automatic renewal is off, its last period has ended, or its last transaction was revoked after the request. The rest is undecided.
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW price_changes_by_batch AS
SELECT
    b.app_id, b.job, b.rows_sha256 AS batch, b.occurrence, b.planned_at, b.started_at, b.finished_at, b.rows_to_send AS planned,
    f.sent, f.communicated, f.accepted, f.renewed, f.lost, f.sent - f.renewed - f.lost AS undecided,
    round(f.lost::numeric / nullif(f.sent, 0), 4) AS churn, f.expired
FROM action_batches b
CROSS JOIN LATERAL (
    SELECT count(*) AS sent,
           count(*) FILTER (WHERE notice.n > 0) AS communicated,
           count(*) FILTER (WHERE notice.accepted > 0 OR period.renewed) AS accepted,
           count(*) FILTER (WHERE period.renewed) AS renewed,
           count(*) FILTER (WHERE period.renewed IS NOT TRUE
                              AND (w.auto_renew_status = 0 OR period.ended OR period.revoked)) AS lost,
           count(*) FILTER (WHERE period.renewed IS NOT TRUE AND period.ended) AS expired
      FROM action_rows r
      CROSS JOIN LATERAL (
          SELECT count(*) AS n, count(*) FILTER (WHERE n.notification_type = 'PRICE_INCREASE' AND n.subtype = 'ACCEPTED') AS accepted
            FROM notifications n
           WHERE n.app_id = r.app_id AND n.original_transaction_id = r.subject
             AND n.notification_type IN ('PRICE_CHANGE', 'PRICE_INCREASE') AND n.signed_date >= r.first_sent_at - interval '5 minutes'
      ) notice
      CROSS JOIN LATERAL (
          SELECT bool_or(t.purchase_date > r.first_sent_at) AS renewed,
                 max(t.expires_date) < now() AS ended,
                 bool_or(t.revocation_date >= r.first_sent_at - interval '5 minutes') AS revoked
            FROM transactions t WHERE t.app_id = r.app_id AND t.original_transaction_id = r.subject
      ) period
      LEFT JOIN renewals w ON w.app_id = r.app_id AND w.original_transaction_id = r.subject
     WHERE r.app_id = b.app_id AND r.batch_id = b.batch_id AND r.verdict = 'valid' AND r.state = 'succeeded'
) f
WHERE b.action = 'changeSubscriptionPrice';
COMMENT ON VIEW price_changes_by_batch IS
    'The price changes of Advanced Commerce subscriptions by batch, which is a cohort of a campaign: planned, sent, communicated, accepted, renewed and lost.';
COMMENT ON COLUMN price_changes_by_batch.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN price_changes_by_batch.job IS 'The name of the job: the campaign.';
COMMENT ON COLUMN price_changes_by_batch.batch IS 'The hash of the batch: action_batches.rows_sha256.';
COMMENT ON COLUMN price_changes_by_batch.occurrence IS 'The number of earlier batches of the app with the same hash.';
COMMENT ON COLUMN price_changes_by_batch.planned_at IS 'When the batch was planned.';
COMMENT ON COLUMN price_changes_by_batch.started_at IS 'When the first row was about to be sent; NULL before.';
COMMENT ON COLUMN price_changes_by_batch.finished_at IS 'When every row had an outcome, known or not; NULL before.';
COMMENT ON COLUMN price_changes_by_batch.planned IS 'The rows that the plan found valid.';
COMMENT ON COLUMN price_changes_by_batch.sent IS 'The rows that Apple applied.';
COMMENT ON COLUMN price_changes_by_batch.communicated IS 'Of these, the subscriptions about which Apple has sent a PRICE_CHANGE or PRICE_INCREASE notification.';
COMMENT ON COLUMN price_changes_by_batch.accepted IS 'Of these, the subscriptions with a PRICE_INCREASE notification of the subtype ACCEPTED, or with a renewal.';
COMMENT ON COLUMN price_changes_by_batch.renewed IS 'The subscriptions that have renewed after the request.';
COMMENT ON COLUMN price_changes_by_batch.lost IS 'The subscriptions that have not renewed, and whose automatic renewal is off, whose last period has ended, or that were revoked.';
COMMENT ON COLUMN price_changes_by_batch.undecided IS 'The other subscriptions.';
COMMENT ON COLUMN price_changes_by_batch.churn IS 'lost divided by sent; NULL while nothing was sent.';
COMMENT ON COLUMN price_changes_by_batch.expired IS 'Of the lost subscriptions, those whose last period has ended.';

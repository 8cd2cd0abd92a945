-- title: Price changes
-- section: campaigns
-- means: The last 20 cohorts whose prices were changed: notified, accepted, renewed or lost; the churn is the lost share of the applied.
-- note: A subscription is lost when it has not renewed, and its automatic renewal is off, its last period has ended, or it was revoked.
-- docs: ../guides/advanced-commerce.md
-- nothing: No price was changed.
-- views: price_changes_by_batch
-- flags: plain wide optional shares
-- column: batch | text | Batch
-- column: job | text | Job
-- column: planned_at | moment | Planned, UTC
-- column: started | moment | First sent, UTC
-- column: planned | count | Planned
-- column: sent | count of planned | Applied
-- column: communicated | count of sent | Informed
-- column: accepted | count of sent | Accepted
-- column: renewed | count of sent | Renewed
-- column: lost | count of sent | Lost
-- column: expired | count of sent | of these expired
-- column: undecided | count of sent | Undecided
-- column: churn | rate | Churn
-- draw: rows renewed/0 undecided/5 lost/1
SELECT left(batch, 12) AS batch, job,
       to_char(planned_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS planned_at,
       to_char(started_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS started,
       planned, sent,
       communicated, accepted, renewed, lost, expired, undecided, churn
  FROM price_changes_by_batch v WHERE app_id = :app ORDER BY v.planned_at DESC, v.batch LIMIT 20

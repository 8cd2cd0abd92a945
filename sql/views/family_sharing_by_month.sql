-- How many family members gained access each month, and how many lost it?
--
-- A family member has separate transactions. They do not identify the purchaser.
CREATE MATERIALIZED VIEW IF NOT EXISTS family_sharing_by_month AS
SELECT
    app_id, month, product_id,
    count(*) FILTER (WHERE what = 'began') AS began,
    count(*) FILTER (WHERE what = 'revoked') AS revoked
FROM (
    SELECT app_id, date_trunc('month', purchase_date AT TIME ZONE 'UTC')::date AS month, product_id, 'began' AS what
      FROM transactions
     WHERE in_app_ownership_type = 'FAMILY_SHARED' AND transaction_id = original_transaction_id
    UNION ALL
    SELECT app_id, date_trunc('month', revocation_date AT TIME ZONE 'UTC')::date, product_id, 'revoked'
      FROM transactions
     WHERE in_app_ownership_type = 'FAMILY_SHARED' AND revocation_date IS NOT NULL
) event
GROUP BY app_id, month, product_id
WITH NO DATA;
CREATE UNIQUE INDEX IF NOT EXISTS family_sharing_by_month_key
    ON family_sharing_by_month (app_id, month, product_id) NULLS NOT DISTINCT;
COMMENT ON MATERIALIZED VIEW family_sharing_by_month IS
    'Access through Family Sharing that began or was revoked, by month and product. Members pay nothing. Except for subscriptions_by_status, no other view of counts or amounts includes shared access. As of the last refresh.';
COMMENT ON COLUMN family_sharing_by_month.month IS 'The first day of the month, in UTC.';
COMMENT ON COLUMN family_sharing_by_month.began IS 'Shared subscriptions and purchases of family members whose first shared transaction was in the month.';
COMMENT ON COLUMN family_sharing_by_month.revoked IS 'Shared transactions that were revoked in the month: the purchaser stopped sharing, got a refund, or left the family.';

-- How many family members gained access each month, and how many lost it?
--
-- A family member has separate transactions. They do not identify the purchaser.
--
-- One row for each app_id, month, product_id.
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW refresh_family_sharing_changes AS
SELECT
    app_id, month, product_id, sum(began) AS began, sum(revoked) AS revoked
FROM (
    SELECT app_id, date_trunc('month', purchase_date AT TIME ZONE 'UTC')::date AS month, product_id, sum(sign) AS began, 0 AS revoked
      FROM refresh_changed_transactions
     WHERE in_app_ownership_type = 'FAMILY_SHARED' AND transaction_id = original_transaction_id
     GROUP BY app_id, date_trunc('month', purchase_date AT TIME ZONE 'UTC')::date, product_id
    UNION ALL
    SELECT app_id, date_trunc('month', revocation_date AT TIME ZONE 'UTC')::date, product_id, 0, sum(sign)
      FROM refresh_changed_transactions
     WHERE in_app_ownership_type = 'FAMILY_SHARED' AND revocation_date IS NOT NULL
     GROUP BY app_id, date_trunc('month', revocation_date AT TIME ZONE 'UTC')::date, product_id
) event
GROUP BY app_id, month, product_id;

CREATE OR REPLACE VIEW family_sharing_by_month AS
SELECT app_id, month, product_id, began, revoked FROM refresh_family_sharing_totals;
COMMENT ON VIEW family_sharing_by_month IS
    'Access through Family Sharing that began or was revoked, by month and product. Members pay nothing. Except for subscriptions_by_status, no other view of counts or amounts includes shared access. As of the last refresh.';
COMMENT ON COLUMN family_sharing_by_month.month IS 'The first day of the month, in UTC.';
COMMENT ON COLUMN family_sharing_by_month.began IS 'Shared subscriptions and purchases of family members whose first shared transaction was in the month.';
COMMENT ON COLUMN family_sharing_by_month.revoked IS 'Shared transactions that were revoked in the month: the purchaser stopped sharing, got a refund, or left the family.';

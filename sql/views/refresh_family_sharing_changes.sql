-- What do the transactions that changed add to refresh_family_sharing_totals?
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

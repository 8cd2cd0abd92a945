-- What does family_sharing_by_month show when it is computed from every record?
--
-- storeledger refresh --verify compares the two. Both have the columns of family_sharing_by_month.
CREATE OR REPLACE VIEW refresh_family_sharing_by_month_from_scratch AS
SELECT
    app_id, month, product_id,
    count(*) FILTER (WHERE what = 'began') AS began,
    count(*) FILTER (WHERE what = 'revoked') AS revoked
FROM (
    SELECT app_id, date_trunc('month', purchase_date AT TIME ZONE 'UTC')::date AS month, product_id, 'began' AS what
      FROM refresh_purchase_records
     WHERE in_app_ownership_type = 'FAMILY_SHARED' AND transaction_id = original_transaction_id
    UNION ALL
    SELECT app_id, date_trunc('month', revocation_date AT TIME ZONE 'UTC')::date, product_id, 'revoked'
      FROM refresh_purchase_records
     WHERE in_app_ownership_type = 'FAMILY_SHARED' AND revocation_date IS NOT NULL
) event
GROUP BY app_id, month, product_id;

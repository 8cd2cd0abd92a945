-- The ledger's renewals_and_churn_by_month, for the metric churn_rate.
select app_id, month, product_id, active_at_start, churned
  from {{ source('storeledger_views', 'renewals_and_churn_by_month') }}

-- The ledger's revenue_by_day, for the metrics gross_revenue, refunds and net_revenue.
select app_id, day, product_id, storefront, currency, gross_amount, refunded_amount, net_amount
  from {{ source('storeledger_views', 'revenue_by_day') }}

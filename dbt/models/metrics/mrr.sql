-- The ledger's mrr_by_month, for the metrics mrr, arr and active_subscriptions.
select app_id, month, product_id, storefront, currency, active_subscriptions, mrr_amount
  from {{ source('storeledger_views', 'mrr_by_month') }}

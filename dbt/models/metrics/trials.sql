-- The ledger's trials_by_day, for the metric trial_conversion_rate.
select app_id, day, product_id, storefront, started, converted, running
  from {{ source('storeledger_views', 'trials_by_day') }}

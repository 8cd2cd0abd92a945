-- The ledger's lifetime_value_by_cohort, for the metric lifetime_value. The customers of a cohort are in its first month only, so that
-- both sums can be added up over months.
select app_id, cohort_month, currency, month_number, net_amount,
       case when month_number = 0 then customers else 0 end as customers
  from {{ source('storeledger_views', 'lifetime_value_by_cohort') }}

-- One row for each subscription: its first purchase, its latest period, and whether it renews.
with periods as (
    select *, row_number() over (partition by app_id, original_transaction_id
                                     order by expires_date desc, purchase_date desc, transaction_id desc) as place
      from {{ ref('stg_storeledger__purchases') }}
     where type = 'Auto-Renewable Subscription' and expires_date is not null
),

totals as (
    select app_id, original_transaction_id, min(purchase_date) as started_at, count(*) as periods,
           cast(sum(coalesce(price_milliunits, 0) - refunded_milliunits) as bigint) as net_milliunits,
           count(distinct currency) as currencies
      from periods
     group by app_id, original_transaction_id
)

select p.app_id, p.original_transaction_id, p.product_id, p.storefront, p.currency, t.started_at, p.expires_date,
       t.periods, p.refund_date is not null as is_refunded,
       case when t.currencies = 1 then t.net_milliunits end as net_milliunits,
       r.auto_renew_status = 1 as will_renew, r.auto_renew_product_id, r.is_in_billing_retry_period, r.grace_period_expires_date
  from periods p
  join totals t on t.app_id = p.app_id and t.original_transaction_id = p.original_transaction_id
  left join {{ ref('stg_storeledger__renewals') }} r
    on r.app_id = p.app_id and r.original_transaction_id = p.original_transaction_id
 where p.place = 1

-- Sales and refunds by month, product, storefront and currency, before Apple's commission and tax.
--
-- A sale counts in the month of the purchase, and a refund in the month of the refund. An unknown price counts as paid.
with movements as (
    select app_id, purchase_month as month, product_id, storefront, currency,
           case when price_milliunits = 0 then 0 else 1 end as purchases, coalesce(price_milliunits, 0) as gross_milliunits,
           0 as refunds, 0 as refunded_milliunits
      from {{ ref('stg_storeledger__purchases') }}
    union all
    select app_id, refund_month, product_id, storefront, currency, 0, 0, 1, coalesce(refunded_milliunits, 0)
      from {{ ref('stg_storeledger__purchases') }}
     where refund_date is not null and coalesce(price_milliunits, 1) <> 0
)

select app_id, month, product_id, storefront, currency,
       cast(sum(purchases) as bigint) as purchases, cast(sum(gross_milliunits) as bigint) as gross_milliunits,
       cast(sum(refunds) as bigint) as refunds, cast(sum(refunded_milliunits) as bigint) as refunded_milliunits,
       cast(sum(gross_milliunits) - sum(refunded_milliunits) as bigint) as net_milliunits
  from movements
 group by app_id, month, product_id, storefront, currency
having sum(purchases) + sum(refunds) > 0

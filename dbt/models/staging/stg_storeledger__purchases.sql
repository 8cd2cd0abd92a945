-- Purchases and renewals, without those that the customer did not pay for (Family Sharing, assigned seats).
--
-- Of several transaction IDs with the same originalTransactionId and webOrderLineItemId, which are one purchase, one stands for it: one
-- with a price before one without, then the one that Apple signed last. A restored non-consumable is no purchase.
--
-- A refund is from Apple's newest snapshot. Its amount is the whole price for REFUND_FULL, else the sum of the line items'
-- refunds (Advanced Commerce), else revocationPercentage of the price. Apple's price of a subscription with seats is the
-- average price of a seat.
with item_refunds as (
    select app_id, owner_key, sum(refund_amount_milliunits) as refunded_milliunits, min(refund_date) as refund_date
      from {{ source('storeledger', 'advanced_commerce_refunds') }}
     where owner_kind = 'transaction'
     group by app_id, owner_key
),

records as (
    select t.*,
           row_number() over (
               partition by app_id, original_transaction_id, coalesce(web_order_line_item_id, transaction_id), in_app_ownership_type,
                            case when additional_transaction_reason is not null then purchase_date end
               order by case when price_milliunits is null then 1 else 0 end, coalesce(greatest(signed_date, revocation_date), purchase_date) desc,
                        case when revocation_date is null then 1 else 0 end, transaction_id desc
           ) as place,
           min(case when type = 'Non-Consumable' then purchase_date end)
               over (partition by app_id, original_transaction_id, in_app_ownership_type) as first_bought_at
      from {{ source('storeledger', 'transactions') }} t
),

priced as (
    select t.*,
           case when t.type = 'Auto-Renewable Subscription' and t.quantity > 1 then t.price_milliunits * t.quantity
                else t.price_milliunits end as paid_milliunits,
           coalesce(case when coalesce(t.revocation_type, '') not in ('FAMILY_REVOKE', 'ASSIGNMENT_REVOKE')
                         then t.revocation_date end, r.refund_date) as refund_date,
           r.refunded_milliunits as item_refunded_milliunits
      from records t
      left join item_refunds r on r.app_id = t.app_id and r.owner_key = t.transaction_id
     where coalesce(t.in_app_ownership_type, '') not in ('FAMILY_SHARED', 'ASSIGNED')
       and t.place = 1
       and not coalesce(t.type = 'Non-Consumable' and t.transaction_id <> t.original_transaction_id
                        and t.original_purchase_date < t.purchase_date and t.first_bought_at < t.purchase_date, false)
)

select app_id, transaction_id, original_transaction_id, product_id, type, storefront, currency, quantity, transaction_reason,
       offer_type, offer_discount_type, purchase_date, {{ month_of('purchase_date') }} as purchase_month, expires_date,
       is_upgraded, paid_milliunits as price_milliunits, refund_date, {{ month_of('refund_date') }} as refund_month,
       case when refund_date is null then 0
            else least(paid_milliunits, coalesce(case when revocation_type = 'REFUND_FULL' then paid_milliunits end, item_refunded_milliunits,
                 cast(round(paid_milliunits * coalesce(revocation_percentage_milliunits, 100000) / 100000.0) as bigint)))
       end as refunded_milliunits,
       last_changed_at
  from priced

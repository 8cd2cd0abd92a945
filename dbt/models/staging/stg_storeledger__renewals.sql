-- What Apple will do when a subscription period ends: the newest renewal information of each subscription.
select app_id, original_transaction_id, product_id, auto_renew_product_id, auto_renew_status, expiration_intent,
       is_in_billing_retry_period, grace_period_expires_date, renewal_date, signed_date
  from {{ source('storeledger', 'renewals') }}

-- The App Store Server Notifications, version 2, that Apple's history has.
select app_id, notification_uuid, notification_type, subtype, signed_date,
       cast(signed_date at time zone 'UTC' as date) as signed_day, transaction_id, original_transaction_id, first_seen_at
  from {{ source('storeledger', 'notifications') }}

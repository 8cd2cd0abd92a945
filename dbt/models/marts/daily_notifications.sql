-- Notifications by day, type and subtype.
select app_id, signed_day as day, notification_type, subtype, count(*) as notifications
  from {{ ref('stg_storeledger__notifications') }}
 group by app_id, signed_day, notification_type, subtype

-- title: Notification delivery
-- section: operations
-- means: How the app's own server took Apple's notifications, by the day of their signature.
-- note: All products, storefronts and currencies.
-- docs: ../guides/receive-notifications.md
-- nothing: No notifications in this range.
-- views: notification_health_by_day
-- flags: shares
-- column: day | day | Day
-- column: at_once | count of notifications | Delivered at once
-- column: later | count of notifications | Delivered after retries
-- column: retrying | count of notifications | Being retried
-- column: not_known_yet | count of notifications | Not known yet
-- column: never | count of notifications | Never received
-- column: unknown | count of notifications | No attempt known
-- column: notifications | count | All | at_once + later + retrying + not_known_yet + never + unknown
-- column: taken | rate | Delivered | (at_once + later) / (at_once + later + retrying + not_known_yet + never + unknown)
-- draw: bars at_once/0 later/2 retrying/3 not_known_yet/4 never/1 unknown/5
SELECT app_id, day, delivered_at_once AS at_once, delivered - delivered_at_once AS later, retrying, not_known_yet,
       never_received AS never, unknown
  FROM notification_health_by_day WHERE app_id = ANY (:apps::text[]::integer[])

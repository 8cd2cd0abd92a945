-- The last extensions for all subscribers: Apple's counts and those of the notifications received.
SELECT subject AS product_id,
       to_char(sent_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS sent,
       to_char(seen_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS complete,
       apple_succeeded, summary_succeeded,
       notified_succeeded, apple_failed, summary_failed, notified_failed,
       CASE WHEN counts_agree THEN 'agree' WHEN NOT counts_agree THEN 'differ' ELSE 'not complete' END AS agree
  FROM actions_confirmed v WHERE app_id = :app AND action = 'extendRenewalDatesForAll' ORDER BY v.sent_at DESC LIMIT 20

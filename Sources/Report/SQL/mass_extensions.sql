-- title: Extensions for all subscribers
-- section: actions
-- means: The last 20 of them, with Apple's counts and the counts of the notifications received.
-- docs: ../guides/actions.md
-- nothing: No renewal date was extended for all subscribers.
-- views: actions_confirmed
-- flags: plain wide
-- column: product_id | text | Product
-- column: sent | moment | Sent, UTC
-- column: complete | moment | Summary, UTC
-- column: apple_succeeded | count | Extended: status
-- column: summary_succeeded | count | summary
-- column: notified_succeeded | count | notifications
-- column: apple_failed | count | Failed: status
-- column: summary_failed | count | summary
-- column: notified_failed | count | notifications
-- column: agree | text | Counts
SELECT subject AS product_id,
       to_char(sent_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS sent,
       to_char(seen_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS complete,
       apple_succeeded, summary_succeeded,
       notified_succeeded, apple_failed, summary_failed, notified_failed,
       CASE WHEN counts_agree THEN 'agree' WHEN NOT counts_agree THEN 'differ' ELSE 'not complete' END AS agree
  FROM actions_confirmed v WHERE app_id = :app AND action = 'extendRenewalDatesForAll' ORDER BY v.sent_at DESC LIMIT 20

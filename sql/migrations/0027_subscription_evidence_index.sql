-- Which few notifications name the end of a grace period, or a period that Apple extended?
--
-- subscription_periods reads these alone. The condition is the view's, word for word, so that the planner can use the index;
-- it is partial, so that most notifications cost nothing more when they are loaded.
CREATE INDEX CONCURRENTLY IF NOT EXISTS notifications_period_evidence ON notifications (app_id, original_transaction_id, transaction_id)
    WHERE notification_type = 'RENEWAL_EXTENDED'
       OR jsonb_typeof(payload #> '{data,signedRenewalInfo,gracePeriodExpiresDate}') = 'number';

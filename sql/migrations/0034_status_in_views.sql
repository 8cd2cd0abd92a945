-- Which column does the count of Apple's own statuses need in the tables of a refresh?
--
-- A kept_ table holds for the length of a refresh what the view of its name shows; see 0013_refresh_base.sql. subscriptions_by_status
-- counts which states are the status that Apple answered, and which are worked out from signed records.
ALTER TABLE kept_current_subscriptions ADD COLUMN is_reported_by_apple boolean;
COMMENT ON COLUMN kept_current_subscriptions.is_reported_by_apple IS 'As in current_subscriptions.';

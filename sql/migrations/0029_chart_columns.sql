-- Which columns do the charts by storefront, of new subscriptions and of MRR at risk need in the tables of a refresh?
--
-- A kept_ table holds for the length of a refresh what the view of its name shows; see 0013_refresh_base.sql. A view NAME_at_refresh
-- shows the columns that its table had when the view was made, so a migration that adds one changes that view's file, too.
ALTER TABLE kept_subscription_periods ADD COLUMN next_storefront text, ADD COLUMN is_after_trial boolean;
ALTER TABLE kept_current_subscriptions ADD COLUMN ends_at timestamptz;
COMMENT ON COLUMN kept_subscription_periods.next_storefront IS 'As in subscription_periods.';
COMMENT ON COLUMN kept_subscription_periods.is_after_trial IS 'As in subscription_periods.';
COMMENT ON COLUMN kept_current_subscriptions.ends_at IS 'As in current_subscriptions.';

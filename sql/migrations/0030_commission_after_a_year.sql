-- Which share does Apple keep of a subscriber's payments after a year of paid service?
--
-- A setting of its own beside commission, which stays what it is: 0.3, or 0.15 in the Small Business Program.
ALTER TABLE proceeds_rules ADD COLUMN commission_after_a_year numeric CHECK (commission_after_a_year BETWEEN 0 AND 1);
COMMENT ON COLUMN proceeds_rules.commission_after_a_year IS
    'Apple''s share of a subscription''s price without tax once its subscriber has accumulated a year of paid service: 0.15 by Apple''s terms. NULL means the same as commission.';

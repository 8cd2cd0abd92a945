COMMENT ON TABLE proceeds_rules IS 'The user''s own rules for estimating tax and Apple''s commission. Optional: the user fills the table.';
COMMENT ON COLUMN proceeds_rules.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN proceeds_rules.storefront IS 'Apple''s storefront, three letters; * for every storefront without its own rule.';
COMMENT ON COLUMN proceeds_rules.valid_from IS
    'The first day of the rule. The rule applies until valid_from of the storefront''s next row.';
COMMENT ON COLUMN proceeds_rules.tax IS 'The tax included in the price, as a share of the price without tax: 0.19 for 19% VAT.';
COMMENT ON COLUMN proceeds_rules.commission IS
    'Apple''s share of the price without tax, 0 to 1: 0.3, or 0.15 in the Small Business Program.';
COMMENT ON COLUMN proceeds_rules.commission_after_a_year IS
    'Apple''s share of a subscription''s price without tax, 0 to 1, after the subscriber has accumulated a year of paid service: 0.15 by Apple''s terms. NULL means that commission applies.';

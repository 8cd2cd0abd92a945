-- How much may be left of the month's sales after tax and Apple's commission?
--
-- proceeds = net / (1 + tax) * (1 - commission), by the rule of proceeds_rules for the storefront that applies on the last
-- day of the month, else by the rule for '*'. Apple's data contain neither tax nor commission, so the result is only as
-- accurate as the rules.
--
-- Apple's commission is lower after a subscriber's first year of paid service. proceeds_by_year_estimated applies the
-- rule's commission_after_a_year to the part of net in revenue_after_a_year_by_month, and commission to the rest.
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW proceeds_by_month AS
SELECT
    r.app_id, r.month, r.product_id, r.storefront, r.currency,
    r.net_milliunits,
    rule.tax, rule.commission,
    round(r.net_milliunits / (1 + rule.tax) * (1 - rule.commission))::bigint AS proceeds_estimated_milliunits,
    r.net_milliunits * 0.001 AS net_amount,
    round(r.net_milliunits / (1 + rule.tax) * (1 - rule.commission)) * 0.001 AS proceeds_estimated_amount,
    coalesce(later.net_milliunits, 0) AS net_after_a_year_milliunits,
    coalesce(later.net_milliunits, 0) * 0.001 AS net_after_a_year_amount,
    rule.commission_after_a_year,
    by_year.proceeds::bigint AS proceeds_by_year_estimated_milliunits,
    by_year.proceeds * 0.001 AS proceeds_by_year_estimated_amount
FROM revenue_by_month r
LEFT JOIN revenue_after_a_year_by_month later ON later.app_id = r.app_id AND later.month = r.month AND r.type = 'Auto-Renewable Subscription'
     AND coalesce(later.product_id, '') = coalesce(r.product_id, '') AND coalesce(later.storefront, '') = coalesce(r.storefront, '')
     AND coalesce(later.currency, '') = coalesce(r.currency, '')
LEFT JOIN LATERAL proceeds_rule(r.app_id, r.storefront, r.month) rule ON true
CROSS JOIN LATERAL (
    SELECT round(((r.net_milliunits - coalesce(later.net_milliunits, 0)) * (1 - rule.commission)
                  + coalesce(later.net_milliunits, 0) * (1 - rule.commission_after_a_year)) / (1 + rule.tax)) AS proceeds
) by_year;
COMMENT ON VIEW proceeds_by_month IS
    'revenue_by_month less tax and commission, estimated with the user''s proceeds_rules. Use App Store Connect''s financial reports for accounting.';
COMMENT ON COLUMN proceeds_by_month.month IS 'The first day of the month, in UTC.';
COMMENT ON COLUMN proceeds_by_month.net_milliunits IS 'Sales less refunds, in thousandths of a unit of currency.';
COMMENT ON COLUMN proceeds_by_month.tax IS 'The rule''s tax, as a share of the price without tax. NULL without a rule.';
COMMENT ON COLUMN proceeds_by_month.commission IS 'The rule''s commission, 0 to 1. NULL without a rule.';
COMMENT ON COLUMN proceeds_by_month.proceeds_estimated_milliunits IS 'Estimated proceeds: net_milliunits less tax and commission, in thousandths of a unit of currency. NULL without a rule.';
COMMENT ON COLUMN proceeds_by_month.net_after_a_year_milliunits IS
    'The part of net_milliunits from payments after one year of paid service, in thousandths of a unit of currency.';
COMMENT ON COLUMN proceeds_by_month.commission_after_a_year IS
    'The rule''s commission for that part, 0 to 1: commission_after_a_year, or commission if that is NULL. NULL without a rule.';
COMMENT ON COLUMN proceeds_by_month.proceeds_by_year_estimated_milliunits IS
    'Estimated proceeds with both commissions, in thousandths of a unit of currency. NULL without a rule. It equals proceeds_estimated_milliunits unless commission_after_a_year is set.';

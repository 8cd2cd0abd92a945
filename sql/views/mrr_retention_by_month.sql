-- How much of a month's opening MRR is retained (gross and net), and does growth exceed loss (quick ratio)?
--
-- gross = (base - churn - contraction) / base and net = gross + expansion / base, where base is the opening MRR less the MRR
-- that switched to another currency. Such MRR is neither lost nor kept here: it goes on in the row of the other currency, at another
-- price. As part of the base it would count as kept. Neither ratio includes reactivations. ChartMogul divides by the MRR at the start of
-- the period, and subtracts reactivation from its net churn. For RevenueCat no definition of MRR retention was found. Quick ratio = (new + reactivation + expansion) /
-- (churn + contraction).
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW mrr_retention_by_month AS
SELECT
    app_id, month, currency, opening_milliunits, closing_milliunits, closing_subscriptions,
    round((base - churn_milliunits - contraction_milliunits) / nullif(base, 0), 4) AS gross_mrr_retention,
    round((base - churn_milliunits - contraction_milliunits + expansion_milliunits) / nullif(base, 0), 4) AS net_mrr_retention,
    round((churn_milliunits + contraction_milliunits) / nullif(base, 0), 4) AS mrr_churn_rate,
    round((new_milliunits + reactivation_milliunits + expansion_milliunits)::numeric
          / nullif(churn_milliunits + contraction_milliunits, 0), 2) AS quick_ratio,
    round(closing_milliunits::numeric / nullif(closing_subscriptions, 0))::bigint AS arpa_milliunits,
    opening_milliunits * 0.001 AS opening_amount,
    closing_milliunits * 0.001 AS closing_amount,
    round(closing_milliunits::numeric / nullif(closing_subscriptions, 0)) * 0.001 AS arpa_amount
FROM (SELECT *, (opening_milliunits - switched_out_milliunits)::numeric AS base FROM mrr_movement_by_month) m;
COMMENT ON VIEW mrr_retention_by_month IS
    'Ratios of mrr_movement_by_month: gross and net MRR retention, MRR churn, quick ratio, and MRR per active subscription, by currency. The row of the current month is as of the last refresh, so its retention can still fall.';
COMMENT ON COLUMN mrr_retention_by_month.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN mrr_retention_by_month.month IS 'The first day of the month, in UTC.';
COMMENT ON COLUMN mrr_retention_by_month.opening_milliunits IS 'MRR at the end of the previous month, in thousandths of a unit of currency.';
COMMENT ON COLUMN mrr_retention_by_month.closing_milliunits IS 'MRR at the end of the month, in thousandths of a unit of currency.';
COMMENT ON COLUMN mrr_retention_by_month.closing_subscriptions IS 'Active paid subscriptions at the end of the month.';
COMMENT ON COLUMN mrr_retention_by_month.gross_mrr_retention IS 'The share of the opening MRR, less what switched to another currency, that is left after churn and contraction, 0 to 1. NULL if there was none.';
COMMENT ON COLUMN mrr_retention_by_month.net_mrr_retention IS 'The share of the opening MRR left after churn, contraction and expansion. Expansion can raise it above 1.';
COMMENT ON COLUMN mrr_retention_by_month.mrr_churn_rate IS '1 - gross_mrr_retention.';
COMMENT ON COLUMN mrr_retention_by_month.quick_ratio IS 'MRR gained divided by MRR lost. MRR grows if the ratio is above 1. NULL if nothing was lost.';
COMMENT ON COLUMN mrr_retention_by_month.arpa_milliunits IS 'closing_milliunits divided by closing_subscriptions: average MRR of an active subscription, in thousandths of a unit of currency.';

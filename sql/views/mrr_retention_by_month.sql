-- How much of a month's opening MRR is kept (gross and net retention), and does growth outweigh loss (quick ratio)?
--
-- gross = (base - churn - contraction) / base, net = gross + expansion / base, where base is the opening MRR without what switched
-- to another currency. Reactivations are in neither. Quick ratio = (new + reactivation + expansion) / (churn + contraction).
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
    'Ratios of mrr_movement_by_month: gross and net MRR retention, MRR churn, quick ratio, MRR for each active subscription; by currency. The month under way is as of the last refresh, so its retention still falls.';
COMMENT ON COLUMN mrr_retention_by_month.app_id IS 'The app, in apps.';
COMMENT ON COLUMN mrr_retention_by_month.month IS 'The first day of the month, in UTC.';
COMMENT ON COLUMN mrr_retention_by_month.opening_milliunits IS 'MRR at the end of the month before, in thousandths of a unit of currency.';
COMMENT ON COLUMN mrr_retention_by_month.closing_milliunits IS 'MRR at the end of the month, in thousandths of a unit of currency.';
COMMENT ON COLUMN mrr_retention_by_month.closing_subscriptions IS 'Active paid subscriptions at the end of the month.';
COMMENT ON COLUMN mrr_retention_by_month.gross_mrr_retention IS 'What is left of the opening MRR after churn and contraction, 0 to 1; NULL when there was none.';
COMMENT ON COLUMN mrr_retention_by_month.net_mrr_retention IS 'The same with expansion, which can bring it above 1.';
COMMENT ON COLUMN mrr_retention_by_month.mrr_churn_rate IS '1 less gross_mrr_retention.';
COMMENT ON COLUMN mrr_retention_by_month.quick_ratio IS 'MRR gained over MRR lost; above 1 MRR grows. NULL when nothing was lost.';
COMMENT ON COLUMN mrr_retention_by_month.arpa_milliunits IS 'closing_milliunits over closing_subscriptions: average MRR of an active subscription, in thousandths of a unit of currency.';

-- What else do refreshes keep of each period: the purchase that it belongs to, whether it expired and left a gap, and refunds of seats?
--
-- The views subscription_periods and refresh_periods_to_store say what the columns mean. migrate computes everything again, because
-- the definitions of these views changed.
ALTER TABLE kept_subscription_periods
    ADD COLUMN web_order_line_item_id text, ADD COLUMN has_expired boolean, ADD COLUMN has_gap boolean, ADD COLUMN extended_from timestamptz,
    ADD COLUMN seat_refunds_at timestamptz[], ADD COLUMN mrr_before_seat_refunds bigint[];
DO $$
DECLARE
    kept text;
BEGIN
    FOREACH kept IN ARRAY '{refresh_stored_periods,refresh_periods_before,refresh_periods_after,refresh_periods_beside}'::text[] LOOP
        EXECUTE format('ALTER TABLE %I ADD COLUMN web_order_line_item_id text, ADD COLUMN has_expired boolean, ADD COLUMN has_gap boolean, '
                       || 'ADD COLUMN seat_refunds_at timestamptz[], ADD COLUMN mrr_before_seat_refunds bigint[]', kept);
    END LOOP;
    -- The planner's statistics outlive the rows, so there are none of IDs.
    FOREACH kept IN ARRAY '{kept_subscription_periods,refresh_stored_periods,refresh_periods_before,refresh_periods_after,refresh_periods_beside}'::text[] LOOP
        EXECUTE format('ALTER TABLE %I ALTER COLUMN web_order_line_item_id SET STATISTICS 0', kept);
    END LOOP;
END $$;

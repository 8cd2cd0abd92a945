-- Which rows does a refresh count?
--
-- One table has the periods that are counted so far (sign -1) and those that replace them (sign 1), in place of three whose union each total read; so do
-- transactions. The months of subscriptions are computed once for all totals that need them.
DROP TABLE refresh_periods_before, refresh_periods_after, refresh_periods_beside,
           refresh_transactions_before, refresh_transactions_after, refresh_transactions_beside CASCADE;
DROP FUNCTION IF EXISTS store_changes(regclass, regclass, regclass);

CREATE UNLOGGED TABLE refresh_periods_changed AS
SELECT false AS is_beside, 1 AS sign, now() AS as_of, s.* FROM refresh_stored_periods s WITH NO DATA;
ALTER TABLE refresh_periods_changed ALTER COLUMN original_transaction_id SET STATISTICS 0, ALTER COLUMN transaction_id SET STATISTICS 0,
    ALTER COLUMN web_order_line_item_id SET STATISTICS 0;

CREATE UNLOGGED TABLE refresh_transactions_changed AS
SELECT false AS is_beside, 1 AS sign, s.* FROM refresh_stored_transactions s WITH NO DATA;
ALTER TABLE refresh_transactions_changed ALTER COLUMN original_transaction_id SET STATISTICS 0, ALTER COLUMN transaction_id SET STATISTICS 0,
    ALTER COLUMN customer_key SET STATISTICS 0, ALTER COLUMN purchase_key SET STATISTICS 0;

CREATE UNLOGGED TABLE refresh_month_steps (
    is_beside               boolean,
    sign                    integer,
    as_of                   timestamptz,
    app_id                  integer,
    original_transaction_id text,
    period_number           bigint,
    product_id              text,
    period                  text,
    storefront              text,
    currency                text,
    mrr_milliunits          bigint,
    first_paid_month        date,
    from_month              date,
    until_month             date,
    before_until_month      date,
    before_currency         text,
    before_mrr              bigint,
    after_from_month        date,
    after_currency          text
);
ALTER TABLE refresh_month_steps ALTER COLUMN original_transaction_id SET STATISTICS 0;

-- What is the usual period of a product?
--
-- An ordinary transaction does not contain the nominal period of its product, such as P1M. So the ledger infers it: the usual period of a product
-- is the length of most of its periods.

-- Whether the length of a period counts for the usual period of its product.
--
-- The length of an extended period, of an offer, and of a month that is billed within a longer commitment can differ from the product's.
CREATE OR REPLACE FUNCTION has_usual_length(product_id text, period_by_length text, is_extended boolean, offer_type integer,
                                            offer_discount_type text, billing_plan_type text)
RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN product_id IS NOT NULL AND period_by_length IS NOT NULL AND NOT is_extended
       AND offer_type IS NULL AND offer_discount_type IS NULL AND billing_plan_type IS DISTINCT FROM 'MONTHLY';
COMMENT ON FUNCTION has_usual_length IS 'Whether the length of a period counts for the usual period of its product. Reads only its parameters.';

-- Brings product_periods up to date. Returns the products whose usual period changed, each as app_id, a space and product_id.
CREATE OR REPLACE FUNCTION renew_product_periods() RETURNS text[] LANGUAGE sql SET search_path FROM CURRENT AS $$
    WITH usual AS MATERIALIZED (
        SELECT DISTINCT ON (app_id, product_id) app_id, product_id, period
          FROM refresh_period_length_totals
         -- If two lengths are equally frequent, the shorter one is the usual period.
         ORDER BY app_id, product_id, periods DESC, now() + period::interval
    ), written AS (
        INSERT INTO product_periods AS p SELECT app_id, product_id, period FROM usual
            ON CONFLICT (app_id, product_id) DO UPDATE SET period = excluded.period WHERE p.period <> excluded.period
        RETURNING p.app_id, p.product_id
    ), removed AS (
        DELETE FROM product_periods p
         WHERE NOT EXISTS (SELECT FROM usual u WHERE u.app_id = p.app_id AND u.product_id = p.product_id)
        RETURNING p.app_id, p.product_id
    )
    SELECT coalesce(array_agg(app_id || ' ' || product_id), '{}') FROM (TABLE written UNION ALL TABLE removed) changed
$$;
COMMENT ON FUNCTION renew_product_periods IS
    'Writes the usual period of each product into product_periods, from the counts of lengths in refresh_period_length_totals.';

-- Which exchange rate and which rule of proceeds apply?

-- The value of one unit of p_currency in units of p_reporting_currency on a day: the rate of the last day until then that has one.
-- A later day than today has today's rate. NULL if there is none. The rate of a currency to itself is 1, without a row.
CREATE OR REPLACE FUNCTION exchange_rate(p_reporting_currency text, p_currency text, p_day date) RETURNS numeric
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT CASE WHEN p_currency = p_reporting_currency THEN 1::numeric ELSE (
        SELECT rate FROM exchange_rates
         WHERE reporting_currency = p_reporting_currency AND currency = p_currency
           AND day <= least(p_day, (now() AT TIME ZONE 'UTC')::date)
         ORDER BY day DESC LIMIT 1) END
$$;
COMMENT ON FUNCTION exchange_rate IS
    'The value of one unit of a currency in units of a reporting currency on a day, from exchange_rates. NULL without a rate. Queries can use it for amounts that no view converts.';

-- The rule of proceeds_rules that applies to a storefront on the last day of a month: the storefront's rule, else the rule of '*'.
CREATE OR REPLACE FUNCTION proceeds_rule(p_app_id integer, p_storefront text, p_month date)
RETURNS TABLE (tax numeric, commission numeric, commission_after_a_year numeric)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1 SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT r.tax, r.commission, coalesce(r.commission_after_a_year, r.commission)
      FROM proceeds_rules r
     WHERE r.app_id = p_app_id AND r.storefront IN (p_storefront, '*') AND r.valid_from < (p_month + interval '1 month')::date
     ORDER BY r.storefront = '*', r.valid_from DESC LIMIT 1
$$;
COMMENT ON FUNCTION proceeds_rule IS 'The tax and the commissions that apply to a storefront in a month, from proceeds_rules. No row without a rule.';

REVOKE EXECUTE ON FUNCTION exchange_rate, proceeds_rule FROM PUBLIC;

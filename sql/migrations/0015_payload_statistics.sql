-- What does the planner have to know of a payload as a whole?
--
-- Nothing: nobody sorts by one, or asks which others are like it. ANALYZE used to compare the documents of 30,000 rows with each
-- other, which was a third of its time (100,000 transactions took 851 ms, and take 574 ms without), after every first sync and
-- whenever autovacuum came by. What it keeps of them are whole payloads, of customers who may be erased one day.
--
-- To name a column's type again makes PostgreSQL forget what it knows of it, and rewrites nothing. It refuses that where a
-- view reads the column, as subscription_periods does in a ledger that has its views already. There it goes on as it was.
DO $$
DECLARE
    whole record;
BEGIN
    FOR whole IN
        SELECT attrelid::regclass AS name, attname, format_type(atttypid, atttypmod) AS type
          FROM pg_attribute
         WHERE attrelid IN ('transactions'::regclass, 'refunds'::regclass, 'renewals'::regclass, 'notifications'::regclass,
                            'signed_payloads'::regclass)
           AND attname IN ('payload', 'signature')
    LOOP
        BEGIN
            EXECUTE format('ALTER TABLE %1$s ALTER COLUMN %2$I TYPE %3$s, ALTER COLUMN %2$I SET STATISTICS 0',
                           whole.name, whole.attname, whole.type);
        EXCEPTION WHEN feature_not_supported THEN
            NULL;
        END;
    END LOOP;
END $$;

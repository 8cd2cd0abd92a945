-- The statements that give each partition the statement triggers of its table, as far as it has others.
--
-- PostgreSQL gives a partition the row triggers of its table. A statement trigger fires only for the table that the statement names,
-- so a partition needs separate triggers for statements that name it. A statement that names the table fires only the table's triggers.
WITH parent AS (
    SELECT t.*, pg_get_triggerdef(t.oid) AS definition, i.inhrelid AS partition,
           format(' ON %I.%I ', current_schema(), c.relname) AS place, format(' ON %I.%I ', current_schema(), p.relname) AS new_place,
           p.oid::regclass AS part
      FROM pg_class c
      JOIN pg_inherits i ON i.inhparent = c.oid
      JOIN pg_class p ON p.oid = i.inhrelid AND p.relispartition
      JOIN pg_trigger t ON t.tgrelid = c.oid AND NOT t.tgisinternal AND t.tgtype & 1 = 0
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'p'
), wanted AS (
    SELECT parent.*, replace(definition, place, new_place) AS wanted FROM parent
)
SELECT step.statement
  FROM wanted w
  LEFT JOIN pg_trigger had ON had.tgrelid = w.partition AND had.tgname = w.tgname
  CROSS JOIN LATERAL (
      VALUES (1, CASE WHEN pg_get_triggerdef(had.oid) IS DISTINCT FROM w.wanted
                      THEN regexp_replace(w.wanted, '^CREATE', 'CREATE OR REPLACE') END),
             (2, CASE WHEN coalesce(had.tgenabled, 'O') <> w.tgenabled
                      THEN format('ALTER TABLE %s %s TRIGGER %I', w.part,
                                  CASE w.tgenabled WHEN 'O' THEN 'ENABLE' WHEN 'A' THEN 'ENABLE ALWAYS' WHEN 'R' THEN 'ENABLE REPLICA'
                                                   ELSE 'DISABLE' END, w.tgname) END)
  ) step (position, statement)
 WHERE step.statement IS NOT NULL
 ORDER BY w.partition, w.oid, step.position

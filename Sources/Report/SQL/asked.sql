-- The frame of every question of the report; :question stands for the rest, from a separate file.
--
-- PostgreSQL cannot infer the type of a parameter that a question does not use, so both are used here.
WITH asked AS (SELECT :app::integer AS app, :job::text AS job) :question

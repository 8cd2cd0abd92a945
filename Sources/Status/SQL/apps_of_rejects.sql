-- A part of statements: the apps whose rejected records count for a job: its own, and the app in Sandbox for the records that
-- `appStore.sandboxFallback` brings.
--
-- Those have the name of the production job. A job of the same name in Sandbox has separate rejected records.
--
-- :apps and :runs stand for the tables, or their masked views
SELECT other.app_id FROM :apps own JOIN :apps other USING (bundle_id)
 WHERE own.app_id = :app
   AND (other.app_id = own.app_id
     OR other.environment = 'Sandbox' AND NOT EXISTS (SELECT FROM :runs r WHERE r.app_id = other.app_id AND r.job = :job))

-- Which items did a worker hold that has not renewed them in time?
--
-- They are taken over before what nobody has begun; without an index of their own, a lease would have to look through all
-- that was planned to find them. It has as many entries as items are under way.
CREATE INDEX crawl_items_leased ON crawl_items (app_id, job, stream, claimable_at, item_key)
    WHERE state = 'leased';

-- How many pages of an item were committed under a lease. No row if another lease has replaced it.
SELECT page_seq FROM crawl_items
 WHERE app_id = :app AND job = :job AND stream = :stream AND item_key = :item AND lease_epoch = :epoch

-- The seats of UNCLAIM_SEATS notifications, which App Store Server Notifications 2.23 added.
ALTER TABLE notifications ADD COLUMN unclaim_seat_ids text[];

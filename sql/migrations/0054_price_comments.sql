-- What does Apple's price cover when several units are bought?
--
-- This file changes comments only. Sources: price, App Store Server API, "The price value shows the total amount of the
-- transaction for the quantity the customer purchased" of a consumable; TransactionMultiSeatInfo, version 1.23, for seats.
COMMENT ON COLUMN transactions.quantity IS
    'Apple''s quantity: the consumables bought, or the seats of a subscription bought for a group. price_milliunits is the price of all these consumables, but the average price of one seat.';
COMMENT ON COLUMN transactions.price_milliunits IS
    'Apple''s price in thousandths of a unit of currency: of the whole quantity for consumables, and the average price of one seat for a subscription with several seats; seat_purchases has the price of all seats.';
COMMENT ON COLUMN refunds.quantity IS
    'Apple''s quantity: the consumables bought, or the seats of a subscription bought for a group. price_milliunits is the price of all these consumables, but the average price of one seat.';
COMMENT ON COLUMN refunds.price_milliunits IS
    'Apple''s price in thousandths of a unit of currency: of the whole quantity for consumables, and the average price of one seat for a subscription with several seats; seat_purchases has the price of all seats.';

-- Which fields has Apple added since the tables were made?
--
-- Versions 1.22 and 1.23 of the App Store Server API, and 2.23 of App Store Server Notifications. A row that was written before
-- has NULL in the new columns; `storeledger replay` fills them from the archive where Apple's payload has the field.
ALTER TABLE transactions
    ADD COLUMN additional_transaction_reason text,
    ADD COLUMN invitation_management text,
    ADD COLUMN revoked_seat_quantity integer;
ALTER TABLE renewals ADD COLUMN renewal_quantity integer;
ALTER TABLE notifications ADD COLUMN app_transaction_store_type text;

COMMENT ON COLUMN transactions.additional_transaction_reason IS
    'Apple''s additionalTransactionReason: why several transactions represent one subscription period, such as SEAT_ADDITION; NULL for the only transaction of a period.';
COMMENT ON COLUMN transactions.invitation_management IS
    'Apple''s invitationManagement of a subscription bought for a group: APPLE or DEVELOPER hosts the invitations; NULL for any other purchase.';
COMMENT ON COLUMN transactions.revoked_seat_quantity IS
    'Apple''s revokedSeatQuantity: how many seats of the transaction were refunded while the others remain; only the purchaser''s transaction has it.';
COMMENT ON COLUMN renewals.renewal_quantity IS
    'Apple''s renewalQuantity: how many seats the next period has.';
COMMENT ON COLUMN notifications.app_transaction_store_type IS
    'Apple''s storeType of the app transaction: the store that the customer obtained the app from, such as CONSUMER.';

-- Known columns with new meanings and values.
COMMENT ON COLUMN transactions.quantity IS
    'Apple''s quantity: the consumables bought, or the seats of a subscription bought for a group; Apple''s price is then the average price of a seat.';
COMMENT ON COLUMN refunds.quantity IS
    'Apple''s quantity: the consumables bought, or the seats of a subscription bought for a group.';
COMMENT ON COLUMN transactions.in_app_ownership_type IS
    'Apple''s inAppOwnershipType: PURCHASED, FAMILY_SHARED, or ASSIGNED by an organization or a group that paid.';
COMMENT ON COLUMN refunds.in_app_ownership_type IS
    'Apple''s inAppOwnershipType: PURCHASED, FAMILY_SHARED, or ASSIGNED by an organization or a group that paid.';
COMMENT ON COLUMN transactions.revocation_type IS
    'Apple''s revocationType: REFUND_FULL, REFUND_PRORATED, FAMILY_REVOKE, or ASSIGNMENT_REVOKE when an administrator took the assignment back.';
COMMENT ON COLUMN refunds.revocation_type IS
    'Apple''s revocationType: REFUND_FULL, REFUND_PRORATED, FAMILY_REVOKE, or ASSIGNMENT_REVOKE when an administrator took the assignment back.';
COMMENT ON COLUMN transactions.offer_discount_type IS
    'Apple''s offerDiscountType: FREE_TRIAL, PAY_AS_YOU_GO, PAY_UP_FRONT, or ONE_TIME for an offer code of a product that is no subscription.';
COMMENT ON COLUMN notifications.external_purchase_token_type IS
    'Apple''s tokenType of a token of custom links: ACQUISITION, SERVICES, IN_APP, LINK_OUT, or CORE_TECHNOLOGY for the Core Technology Commission.';

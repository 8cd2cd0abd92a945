import Postgres

extension Tables {
    /// One row for each notification.
    package static let notifications = Table(
        "notifications",
        key: ["notification_uuid"],
        columns: [
            Column("notification_uuid", .text),
            Column("notification_type", .text),
            Column("subtype", .text),
            Column("version", .text),
            Column("bundle_id", .text),
            Column("app_apple_id", .bigint),
            Column("environment", .text),
            Column("bundle_version", .text),
            Column("status", .integer),
            Column("consumption_request_reason", .text),
            Column("transaction_id", .text),
            Column("original_transaction_id", .text),
            Column("web_order_line_item_id", .text),
            Column("app_transaction_id", .text),
            Column("product_id", .text),
            Column("subscription_group_identifier", .text),
            Column("app_account_token", .uuid),
            Column("summary_product_id", .text),
            Column("summary_request_identifier", .text),
            Column("summary_storefront_country_codes", .textArray),
            Column("summary_succeeded_count", .bigint),
            Column("summary_failed_count", .bigint),
            Column("external_purchase_id", .text),
            Column("external_purchase_token_creation_date", .timestamptz),
            Column("external_purchase_token_expiration_date", .timestamptz),
            Column("external_purchase_token_type", .text),
            Column("app_transaction_receipt_type", .text),
            Column("app_transaction_application_version", .text),
            Column("app_transaction_version_external_identifier", .bigint),
            Column("app_transaction_receipt_creation_date", .timestamptz),
            Column("app_transaction_original_purchase_date", .timestamptz),
            Column("app_transaction_original_application_version", .text),
            Column("app_transaction_original_platform", .text),
            Column("app_transaction_preorder_date", .timestamptz),
            Column("app_transaction_device_verification", .text),
            Column("app_transaction_device_verification_nonce", .uuid),
            Column("app_transaction_store_type", .text),
            Column("unclaim_seat_ids", .textArray),
        ] + snapshotColumns,
        addedColumns: ["app_transaction_store_type", "unclaim_seat_ids"]
    )

    /// Apple's attempts to deliver a notification.
    package static let notificationSendAttempts = Table(
        "notification_send_attempts",
        key: ["notification_uuid", "attempt_date"],
        columns: [
            Column("notification_uuid", .text),
            Column("attempt_date", .timestamptz),
            Column("send_attempt_result", .text),
        ]
    )
}

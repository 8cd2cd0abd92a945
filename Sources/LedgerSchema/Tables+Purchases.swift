import Postgres

extension Tables {
    /// The newest snapshot of each transaction.
    package static let transactions = Table(
        "transactions",
        key: ["transaction_id"],
        columns: [
            Column("transaction_id", .text),
            Column("original_transaction_id", .text),
            Column("previous_original_transaction_id", .text),
            Column("web_order_line_item_id", .text),
            Column("app_transaction_id", .text),
            Column("bundle_id", .text),
            Column("environment", .text),
            Column("product_id", .text),
            Column("subscription_group_identifier", .text),
            Column("type", .text),
            Column("transaction_reason", .text),
            Column("in_app_ownership_type", .text),
            Column("quantity", .integer),
            Column("price_milliunits", .bigint),
            Column("currency", .text),
            Column("storefront", .text),
            Column("storefront_id", .text),
            Column("app_account_token", .uuid),
            Column("purchase_date", .timestamptz),
            Column("original_purchase_date", .timestamptz),
            Column("expires_date", .timestamptz),
            Column("is_upgraded", .boolean),
            Column("offer_type", .integer),
            Column("offer_identifier", .text),
            Column("offer_discount_type", .text),
            Column("offer_period", .text),
            Column("revocation_date", .timestamptz),
            Column("revocation_reason", .integer),
            Column("revocation_type", .text),
            Column("revocation_percentage_milliunits", .integer),
            Column("billing_plan_type", .text),
            Column("commitment_billing_period_number", .integer),
            Column("commitment_total_billing_periods", .integer),
            Column("commitment_expires_date", .timestamptz),
            Column("commitment_price_milliunits", .bigint),
            Column("advanced_commerce_request_reference_id", .text),
            Column("advanced_commerce_period", .text),
            Column("advanced_commerce_tax_code", .text),
            Column("advanced_commerce_tax_rate", .text),
            Column("advanced_commerce_tax_exclusive_price_milliunits", .bigint),
            Column("advanced_commerce_estimated_tax_milliunits", .bigint),
            Column("advanced_commerce_description", .text),
            Column("advanced_commerce_display_name", .text),
            Column("additional_transaction_reason", .text),
            Column("invitation_management", .text),
            Column("revoked_seat_quantity", .integer),
        ] + snapshotColumns,
        addedColumns: ["additional_transaction_reason", "invitation_management", "revoked_seat_quantity"],
        facts: purchaseFacts + [
            .init("transaction_reason", "transactionReason"), .init("expires_date", "expiresDate"),
            .init("offer_type", "offerType"), .init("offer_identifier", "offerIdentifier"),
            .init("offer_discount_type", "offerDiscountType"), .init("offer_period", "offerPeriod"),
            .init("billing_plan_type", "billingPlanType"),
        ]
    )

    /// The facts of a purchase that transactions and refunds have.
    ///
    /// An extension changes `expires_date`, but no subscription loses it. A revocation can be taken back, and Apple drops an
    /// `app_account_token`, so their absence means something.
    private static let purchaseFacts: [Table.Fact] = [
        .init("original_transaction_id", "originalTransactionId"),
        .init("web_order_line_item_id", "webOrderLineItemId"), .init("app_transaction_id", "appTransactionId"),
        .init("product_id", "productId"), .init("subscription_group_identifier", "subscriptionGroupIdentifier"),
        .init("type", "type"), .init("in_app_ownership_type", "inAppOwnershipType"), .init("quantity", "quantity"),
        .init("price_milliunits", "price"), .init("currency", "currency"), .init("storefront", "storefront"),
        .init("storefront_id", "storefrontId"), .init("purchase_date", "purchaseDate"),
        .init("original_purchase_date", "originalPurchaseDate"),
    ]

    /// The newest snapshot of each transaction in the refund history.
    package static let refunds = Table(
        "refunds",
        key: ["transaction_id"],
        columns: [
            Column("transaction_id", .text),
            Column("original_transaction_id", .text),
            Column("web_order_line_item_id", .text),
            Column("app_transaction_id", .text),
            Column("product_id", .text),
            Column("subscription_group_identifier", .text),
            Column("type", .text),
            Column("in_app_ownership_type", .text),
            Column("quantity", .integer),
            Column("price_milliunits", .bigint),
            Column("currency", .text),
            Column("storefront", .text),
            Column("storefront_id", .text),
            Column("app_account_token", .uuid),
            Column("purchase_date", .timestamptz),
            Column("original_purchase_date", .timestamptz),
            Column("revocation_date", .timestamptz),
            Column("revocation_reason", .integer),
            Column("revocation_type", .text),
            Column("revocation_percentage_milliunits", .integer),
        ] + snapshotColumns,
        facts: purchaseFacts
    )

    /// The newest app transaction of each customer: the download or purchase of the app itself.
    package static let appTransactions = Table(
        "app_transactions",
        key: ["app_transaction_id"],
        columns: [
            Column("app_transaction_id", .text),
            Column("bundle_id", .text),
            Column("app_apple_id", .bigint),
            Column("receipt_type", .text),
            Column("application_version", .text),
            Column("version_external_identifier", .bigint),
            Column("receipt_creation_date", .timestamptz),
            Column("original_purchase_date", .timestamptz),
            Column("original_application_version", .text),
            Column("original_platform", .text),
            Column("preorder_date", .timestamptz),
            Column("device_verification", .text),
            Column("device_verification_nonce", .uuid),
            Column("store_type", .text),
        ] + snapshotColumns,
        facts: [
            .init("app_apple_id", "appAppleId"), .init("receipt_type", "receiptType"),
            .init("original_purchase_date", "originalPurchaseDate"),
            .init("original_application_version", "originalApplicationVersion"),
            .init("original_platform", "originalPlatform"), .init("preorder_date", "preorderDate"),
        ]
    )

    /// The newest renewal info of each subscription.
    package static let renewals = Table(
        "renewals",
        key: ["original_transaction_id"],
        columns: [
            Column("original_transaction_id", .text),
            Column("app_transaction_id", .text),
            Column("environment", .text),
            Column("product_id", .text),
            Column("auto_renew_product_id", .text),
            Column("auto_renew_status", .integer),
            Column("expiration_intent", .integer),
            Column("is_in_billing_retry_period", .boolean),
            Column("grace_period_expires_date", .timestamptz),
            Column("price_increase_status", .integer),
            Column("recent_subscription_start_date", .timestamptz),
            Column("renewal_date", .timestamptz),
            Column("renewal_price_milliunits", .bigint),
            Column("currency", .text),
            Column("renewal_billing_plan_type", .text),
            Column("offer_type", .integer),
            Column("offer_identifier", .text),
            Column("offer_discount_type", .text),
            Column("offer_period", .text),
            Column("eligible_win_back_offer_ids", .textArray),
            Column("app_account_token", .uuid),
            Column("commitment_auto_renew_product_id", .text),
            Column("commitment_auto_renew_status", .integer),
            Column("commitment_renewal_billing_plan_type", .text),
            Column("commitment_renewal_date", .timestamptz),
            Column("commitment_renewal_price_milliunits", .bigint),
            Column("advanced_commerce_request_reference_id", .text),
            Column("advanced_commerce_consistency_token", .text),
            Column("advanced_commerce_period", .text),
            Column("advanced_commerce_tax_code", .text),
            Column("advanced_commerce_description", .text),
            Column("advanced_commerce_display_name", .text),
            Column("renewal_quantity", .integer),
        ] + snapshotColumns,
        addedColumns: ["renewal_quantity"]
    )
}

/// A call of the Advanced Commerce API, and the rows that a batch of it has.
///
/// The subscriptions are divided by their IDs, so that no call changes what another one needs, and the calls can have any order after
/// the migration.
enum CommerceCall: String, CaseIterable, Sendable {
    case migrateSubscription
    case changeSubscriptionMetadata
    case changeSubscriptionPrice
    case requestTransactionRefund
    case cancelSubscription
    case revokeSubscription

    /// The parameters of the action in the job file, in YAML.
    var parameters: String {
        switch self {
        case .migrateSubscription:
            """
            {targetProductId: com.example.game.ac.subscription, taxCode: C003-00-2,
                descriptors: {displayName: Plus, description: Everything},
                items: [{SKU: plus, displayName: Plus, description: Everything}]}
            """
        case .changeSubscriptionMetadata: "{descriptors: {displayName: New shelves, effective: IMMEDIATELY}}"
        case .revokeSubscription: "{refundReason: LEGAL, refundType: FULL, refundRiskingPreference: true}"
        case .requestTransactionRefund: "{refundRiskingPreference: true}"
        case .changeSubscriptionPrice, .cancelSubscription: "{}"
        }
    }

    /// With rows of more than one verdict.
    var query: String {
        switch self {
        case .migrateSubscription:
            """
            SELECT original_transaction_id AS transaction_id FROM renewals
             WHERE advanced_commerce_request_reference_id IS NULL
            UNION ALL SELECT unnest(ARRAY['1', 'x', '']) ORDER BY 1
            """
        case .changeSubscriptionMetadata: subscriptions(part: 0)
        // A price falls, rises without the customer's consent, or rises so much that it needs it.
        case .changeSubscriptionPrice:
            """
            SELECT r.original_transaction_id AS transaction_id, jsonb_build_array(jsonb_build_object('SKU', i.sku, 'price',
                   CASE abs(hashtext(i.sku || i.owner_key)) % 3 WHEN 0 THEN i.price_milliunits / 2
                        WHEN 1 THEN i.price_milliunits + 10 ELSE i.price_milliunits * 100 END))::text AS items
              FROM renewals r JOIN advanced_commerce_items i ON i.app_id = r.app_id AND i.owner_kind = 'renewal'
               AND i.owner_key = r.original_transaction_id AND i.position = 0
             WHERE i.price_milliunits > 100 AND \(Self.isInPart("r.original_transaction_id", 1)) ORDER BY 1
            """
        case .requestTransactionRefund:
            """
            SELECT t.transaction_id, jsonb_build_array(jsonb_build_object('SKU', i.sku, 'revoke', true,
                   'refundType', 'FULL', 'refundReason', 'FULFILLMENT_ISSUE'))::text AS items
              FROM transactions t JOIN advanced_commerce_items i ON i.app_id = t.app_id AND i.owner_kind = 'transaction'
               AND i.owner_key = t.transaction_id AND i.position = 0
             WHERE t.type = 'Consumable' ORDER BY 1
            """
        case .cancelSubscription: subscriptions(part: 2)
        case .revokeSubscription: subscriptions(part: 3)
        }
    }

    private func subscriptions(part: Int) -> String {
        """
        SELECT original_transaction_id AS transaction_id FROM renewals WHERE \(Self.isInPart("original_transaction_id", part))
        ORDER BY 1
        """
    }

    /// Whether a subscription is in one of the four parts.
    private static func isInPart(_ id: String, _ part: Int) -> String { "abs(hashtext(\(id))) % 4 = \(part)" }
}

import AppStoreModel
import StrictJSON
import Testing

@testable import AppStoreSimulator

/// A world of a hundred customers contains everything that Apple documents.
@Suite struct CoverageTests {
    /// Collects which fields and known values of a shape occur.
    struct Seen {
        var paths: Set<String> = []
        var values: [String: Set<String>] = [:]

        mutating func look(at object: JSONObject, as shape: ObjectShape) throws {
            for member in object.members {
                let path = shape.name + "." + member.key
                paths.insert(path)
                guard let field = shape[member.key] else { continue }
                switch field.type {
                case .object(let inner):
                    try look(at: try #require(member.value.object, "\(path)"), as: inner)
                case .objectArray(let inner):
                    for element in try #require(member.value.array, "\(path)") {
                        try look(at: try #require(element.object, "\(path)"), as: inner)
                    }
                case .signed(let inner):
                    // The test embeds unsigned payloads in place of signed text.
                    try look(at: StrictJSON.parseObject(Array((member.value.string ?? "").utf8)), as: inner)
                case .openText, .openInteger:
                    values[path, default: []].insert(JSONWriter.text(member.value))
                default:
                    break
                }
            }
        }

        mutating func expect(_ shape: ObjectShape, except missing: Set<String> = []) {
            for field in shape.fields {
                let path = shape.name + "." + field.key
                guard !missing.contains(path) else { continue }
                #expect(paths.contains(path), "\(path) never occurs")
                switch field.type {
                case .object(let inner), .objectArray(let inner), .signed(let inner):
                    expect(inner, except: missing)
                case .openInteger(let known):
                    // In this world a win-back offer ends with its first period, so no next renewal has one.
                    for value in known.keys where path != "JWSRenewalInfoDecodedPayload.offerType" || value != 4 {
                        #expect(values[path]?.contains(String(value)) == true, "\(path) is never \(value)")
                    }
                default:
                    break
                }
            }
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `every documented field and number occurs`(seed: UInt64) throws {
        let world = World(parameters: WorldTests.parameters(seed: seed, customers: 300))
        var seen = Seen()
        for customer in world.customers {
            for transaction in customer.transactions {
                let payload = transaction.payload(
                    of: customer.identity,
                    in: world.app,
                    signedDate: 1,
                    bundleId: world.app.bundleId
                )
                try seen.look(at: StrictJSON.parseObject(payload), as: .transaction)
            }
        }
        // The world has no subscriptions for organizations and groups.
        let seats: Set = [
            "JWSTransactionDecodedPayload.additionalTransactionReason", "JWSTransactionDecodedPayload.multiSeatInfo",
            "JWSRenewalInfoDecodedPayload.renewalQuantity", "JWSRenewalInfoDecodedPayload.multiSeatInfo",
            "ResponseBodyV2DecodedPayload.unclaimInfo",
        ]
        seen.expect(.transaction, except: seats)
        for notification in world.notifications {
            let payload = notification.payload(in: world.app, bundleId: world.app.bundleId) {
                String(decoding: $0, as: UTF8.self)
            }
            try seen.look(at: StrictJSON.parseObject(payload), as: .notification)
        }
        seen.expect(.notification, except: seats)
    }

    @Test(arguments: [AppStoreEnvironment.production, .sandbox])
    func `every notification type and subtype occurs`(_ environment: AppStoreEnvironment) {
        let world = World(parameters: WorldTests.parameters(environment: environment))
        for kind in NotificationKind.all {
            #expect(
                world.notifications.contains { $0.kind.type == kind.type && $0.kind.subtype == kind.subtype },
                "\(kind.type) \(kind.subtype ?? "") never occurs"
            )
        }
        let documented: Set = [
            "SUBSCRIBED", "DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_STATUS", "OFFER_REDEEMED", "DID_RENEW",
            "EXPIRED", "DID_FAIL_TO_RENEW", "GRACE_PERIOD_EXPIRED", "PRICE_INCREASE", "REFUND", "REFUND_DECLINED",
            "CONSUMPTION_REQUEST", "RENEWAL_EXTENDED", "REVOKE", "TEST", "RENEWAL_EXTENSION", "REFUND_REVERSED",
            "EXTERNAL_PURCHASE_TOKEN", "ONE_TIME_CHARGE", "RESCIND_CONSENT", "METADATA_UPDATE", "MIGRATION",
            "PRICE_CHANGE",
        ]
        #expect(documented.isSubset(of: Set(world.notifications.map(\.kind.type))))
        // Apple's tables of types and subtypes.
        let subtypes = { (type: String) in Set(NotificationKind.all.filter { $0.type == type }.map { $0.subtype ?? "" })
        }
        #expect(subtypes("OFFER_REDEEMED") == ["", "UPGRADE", "DOWNGRADE"])
        #expect(subtypes("PRICE_CHANGE") == [""])
        #expect(subtypes("DID_CHANGE_RENEWAL_STATUS") == ["", "AUTO_RENEW_ENABLED", "AUTO_RENEW_DISABLED"])
        // Apple asks for consumption information about every type of purchase.
        let asked = world.notifications.filter { $0.kind.type == "CONSUMPTION_REQUEST" }
            .compactMap { notification -> Product.Kind? in
                guard case .transaction(let transaction, _, _) = notification.content else { return nil }
                return transaction.product.kind
            }
        #expect(asked.contains(.autoRenewable) && asked.contains(.consumable))
    }

    @Test func `version 1 has Apple's types for the events that it knows, and none for others`() throws {
        let world = World(parameters: WorldTests.parameters())
        let known: Set = [
            "CANCEL", "CONSUMPTION_REQUEST", "DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_STATUS",
            "DID_FAIL_TO_RENEW",
            "DID_RECOVER", "DID_RENEW", "INITIAL_BUY", "INTERACTIVE_RENEWAL", "PRICE_INCREASE_CONSENT", "REFUND",
            "REVOKE",
        ]
        #expect(Set(world.notifications.compactMap(\.versionOneType)) == known)
        for notification in world.notifications {
            guard case .transaction(let transaction, _, _) = notification.content, notification.kind.type == "REFUND"
            else {
                continue
            }
            let isSubscription = transaction.product.kind == .autoRenewable
            #expect(notification.versionOneType == (isSubscription ? "CANCEL" : "REFUND"))
        }
        for type in ["TEST", "RENEWAL_EXTENDED", "REFUND_DECLINED", "ONE_TIME_CHARGE", "EXTERNAL_PURCHASE_TOKEN"] {
            #expect(world.notifications.filter { $0.kind.type == type }.allSatisfy { $0.versionOneType == nil })
        }
    }

    @Test func `customers differ in type, storefront, currency and revocation`() {
        let world = World(parameters: WorldTests.parameters())
        let transactions = world.customers.flatMap(\.transactions)
        #expect(Set(transactions.map(\.product.kind.rawValue)).count == 4)
        #expect(Set(world.customers.map(\.identity.storefront.currency)).count >= 5)
        #expect(Set(transactions.compactMap { $0.revocation?.type }) == [.full, .prorated, .family])
        #expect(Set(transactions.compactMap { $0.offer?.type }) == [1, 2, 3, 4])
        #expect(world.customers.contains { $0.transactions.isEmpty })
    }
}

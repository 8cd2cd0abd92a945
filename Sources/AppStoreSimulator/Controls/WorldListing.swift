import AppStoreModel
import SignedData

/// Everything that a complete crawl of this world must find at one moment, one JSON object a line.
///
/// `{"kind": …, "key": …, "payload": …}`, where the kind is one of these:
/// - `transaction` and `refund`: The key is the transaction ID. The payload has no `signedDate`, which differs in each answer.
/// - `notification`: The key is the UUID. The line also has `sendAttempts`, made until that moment, and `visibleFrom`, the
///   moment from which the history lists it (milliseconds since 1970). Notifications that are not listed yet are left out.
/// - `renewal`: The key is the original transaction ID. The payload comes from the newest notification with it.
/// - `subscriptionStatus`: What Get All Subscription Statuses answers. The key is the original transaction ID, the payload is
///   the renewal info without `signedDate`. The line also has `status`, `subscriptionGroupIdentifier` and `transactionId`.
/// - `appTransaction`: The key is the app transaction ID. The payload has no `receiptCreationDate`.
/// - `order`: The key is the order ID. The payload has only `transactionIds`. The sandbox has none.
struct WorldListing {
    static let kinds = [
        "transaction", "refund", "notification", "renewal", "subscriptionStatus", "appTransaction", "order",
    ]

    private let world: ServedWorld
    private let issuer: JWSIssuer
    private let now: Int64
    /// The only kind to list; `nil` for all.
    private let kind: String?

    init(_ world: ServedWorld, issuer: JWSIssuer, now: UnixMilliseconds, kind: String? = nil) {
        self.world = world
        self.issuer = issuer
        self.now = now.rawValue
        self.kind = kind
    }

    private func lists(_ kinds: String...) -> Bool {
        kind.map(kinds.contains) ?? true
    }

    var jsonLines: [UInt8] {
        get throws {
            let (customers, notifications) = world.everything
            var lines: [UInt8] = []
            if lists("transaction", "refund") { appendTransactions(of: customers, to: &lines) }
            let visible = notifications.filter { $0.visibleFrom <= now }
            if lists("notification") {
                for notification in visible { try append(notification, to: &lines) }
            }
            if lists("renewal") { appendRenewals(of: visible, to: &lines) }
            if lists("subscriptionStatus") { appendSubscriptions(to: &lines) }
            if lists("appTransaction") {
                for found in world.appTransactions {
                    let payload = found.payload(in: world.app, signedDate: nil, bundleId: world.app.bundleId)
                    append("appTransaction", found.customer.appTransactionId, payload, to: &lines)
                }
            }
            if lists("order"), world.app.environment == .production {
                for order in world.orders {
                    let payload = jsonObject { $0.member("transactionIds", order.transactionIds.map { String($0) }) }
                    append("order", order.id, payload, to: &lines)
                }
            }
            return lines
        }
    }

    private func appendTransactions(of customers: [[StoredTransaction]], to lines: inout [UInt8]) {
        for record in customers.joined() {
            let transaction = record.transaction
            let payload = transaction.payload(
                of: record.customer,
                in: world.app,
                signedDate: nil,
                bundleId: world.app.bundleId
            )
            let key = String(transaction.id)
            if lists("transaction") { append("transaction", key, payload, to: &lines) }
            if lists("refund"), transaction.refundDate != nil { append("refund", key, payload, to: &lines) }
        }
    }

    private func appendRenewals(of notifications: [Notification], to lines: inout [UInt8]) {
        var renewals: [UInt64: [UInt8]] = [:]
        for notification in notifications {
            if case .transaction(_, let renewal?, _) = notification.content, let customer = notification.customer {
                // Notifications are in the order of their dates, so the newest one replaces the others.
                renewals[renewal.transaction.originalId] = renewal.payload(
                    of: customer,
                    in: world.app,
                    signedDate: notification.date
                )
            }
        }
        for (original, payload) in renewals.sorted(by: { $0.key < $1.key }) {
            append("renewal", String(original), payload, to: &lines)
        }
    }

    private func appendSubscriptions(to lines: inout [UInt8]) {
        for subscription in world.subscriptions(at: now) {
            let payload = subscription.renewal.payload(
                of: subscription.transaction.customer,
                in: world.app,
                signedDate: nil
            )
            append("subscriptionStatus", String(subscription.originalId), payload, to: &lines) {
                $0.member("status", subscription.status)
                $0.member("subscriptionGroupIdentifier", subscription.group)
                $0.member("transactionId", String(subscription.transaction.transaction.id))
            }
        }
    }

    private func append(_ notification: Notification, to lines: inout [UInt8]) throws {
        let payload = try notification.payload(
            in: world.app,
            bundleId: world.app.bundleId,
            sign: issuer.sign(payload:)
        )
        append("notification", notification.uuid, payload, to: &lines) {
            $0.member("sendAttempts", raw: notification.attempts(until: now).json)
            $0.member("visibleFrom", notification.visibleFrom)
        }
    }

    private func append(
        _ kind: String,
        _ key: String,
        _ payload: [UInt8],
        to lines: inout [UInt8],
        and fill: (inout ObjectWriter) -> Void = { _ in }
    ) {
        lines += jsonObject {
            $0.member("kind", kind)
            $0.member("key", key)
            $0.member("payload", raw: payload)
            fill(&$0)
        }
        lines.append(UInt8(ascii: "\n"))
    }
}

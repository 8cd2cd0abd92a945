import AppStoreModel

/// Everything that a complete crawl of this world must have found, one JSON object a line.
///
/// `{"kind": …, "key": …, "payload": …}`, where the kind is `transaction` and `refund` (key: transaction ID, payload as
/// signed), `notification` (key: UUID; with `sendAttempts`) and `renewal` (key: original transaction ID; the newest one).
struct WorldListing {
    private let world: SignedWorld

    init(_ world: SignedWorld) {
        self.world = world
    }

    var jsonLines: [UInt8] {
        get throws {
            let (customers, notifications) = world.everything
            var lines: [UInt8] = []
            for record in customers.joined() {
                let payload = PageItem.transaction(record).payload(in: world.app, bundleId: world.app.bundleId) { _ in
                    ""
                }
                let key = String(record.transaction.id)
                append("transaction", key, payload, to: &lines)
                if record.transaction.refundDate != nil { append("refund", key, payload, to: &lines) }
            }
            var renewals: [UInt64: [UInt8]] = [:]
            for record in notifications {
                let notification = record.notification
                append(
                    "notification",
                    notification.uuid,
                    record.payload(by: world.sealer, in: world.app),
                    attempts: record.attempts,
                    to: &lines
                )
                if case .transaction(_, let renewal?, _) = notification.content, let customer = notification.customer {
                    // Notifications are in the order of their dates, so the last one stays.
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
            return lines
        }
    }

    private func append(
        _ kind: String,
        _ key: String,
        _ payload: [UInt8],
        attempts: [UInt8]? = nil,
        to lines: inout [UInt8]
    ) {
        lines += jsonObject {
            $0.member("kind", kind)
            $0.member("key", key)
            $0.member("payload", raw: payload)
            $0.member("sendAttempts", raw: attempts)
        }
        lines.append(UInt8(ascii: "\n"))
    }
}

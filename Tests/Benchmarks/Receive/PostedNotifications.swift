import AppStoreModel
import AppStoreSimulator
import SignedData

/// Requests with notifications as Apple posts them, each about a different purchase and about 20 KB long.
struct PostedNotifications: Sendable {
    /// Whole HTTP requests, for connections that stay open.
    let requests: [[UInt8]]

    /// - Parameters:
    ///   - count: How many.
    ///   - authority: Signs them and the records inside.
    /// - Throws: ``SignedData/SigningError``.
    init(_ count: Int, signedBy authority: CertificateAuthority) throws {
        let issuer = authority.issuer
        let signed = SignedHistory.now.rawValue
        requests = try (0..<count).map { number in
            let id = String(720_000_000_000 + number)
            let transaction = try issuer.sign(
                payload: Array(
                    """
                    {"transactionId":"\(id)","originalTransactionId":"\(id)","bundleId":"\(SimulatedPayloads.bundleId)",\
                    "environment":"Production","productId":"pro.monthly","type":"Auto-Renewable Subscription","price":9990,\
                    "currency":"USD","storefront":"USA","purchaseDate":\(signed),"expiresDate":\(signed),"signedDate":\(signed)}
                    """.utf8
                )
            )
            let renewal = try issuer.sign(
                payload: Array(
                    """
                    {"originalTransactionId":"\(id)","autoRenewProductId":"pro.monthly","autoRenewStatus":1,\
                    "environment":"Production","signedDate":\(signed)}
                    """.utf8
                )
            )
            let uuid = "00000000-0000-4000-8000-\(id)"
            let notification = try issuer.sign(
                payload: Array(
                    """
                    {"notificationUUID":"\(uuid)","notificationType":"DID_RENEW","version":"2.0","signedDate":\(signed),\
                    "data":{"bundleId":"\(SimulatedPayloads.bundleId)","appAppleId":\(SimulatedPayloads.appAppleId ?? 0),\
                    "environment":"Production","signedTransactionInfo":"\(transaction)","signedRenewalInfo":"\(renewal)"}}
                    """.utf8
                )
            )
            let body = "{\"signedPayload\":\"\(notification)\"}"
            let head =
                "POST /notifications HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
            return Array((head + body).utf8)
        }
    }
}

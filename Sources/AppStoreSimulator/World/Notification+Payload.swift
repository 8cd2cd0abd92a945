import AppStoreModel

extension Notification {
    /// The JSON that is signed.
    ///
    /// Source: `ResponseBodyV2DecodedPayload`, read 2026-11.
    ///
    /// - `bundleId`: The app's own, except under the fault `wrongBundle`.
    /// - `sign`: Signs a payload that is embedded in this one.
    func payload(in app: SimulatedApp, bundleId: String, sign: ([UInt8]) throws -> String) rethrows -> [UInt8] {
        let body = try body(in: app, bundleId: bundleId, sign: sign)
        return jsonObject {
            $0.member("notificationType", kind.type)
            $0.member("subtype", kind.subtype)
            $0.member("notificationUUID", uuid)
            $0.member("version", "2.0")
            $0.member("signedDate", date)
            $0.member(body.key, raw: body.json)
        }
    }

    private func body(
        in app: SimulatedApp,
        bundleId: String,
        sign: ([UInt8]) throws -> String
    ) rethrows -> (key: String, json: [UInt8]) {
        switch content {
        case .transaction, .none:
            ("data", try data(in: app, bundleId: bundleId, sign: sign))
        case .summary(let summary):
            (
                "summary",
                jsonObject {
                    $0.member("environment", app.environment.rawValue)
                    $0.member("appAppleId", app.appAppleId)
                    $0.member("bundleId", bundleId)
                    $0.member("productId", summary.productId)
                    $0.member("requestIdentifier", summary.requestIdentifier)
                    $0.member("storefrontCountryCodes", summary.storefronts)
                    $0.member("succeededCount", summary.succeeded)
                    $0.member("failedCount", summary.failed)
                }
            )
        case .externalToken(let token):
            (
                "externalPurchaseToken",
                jsonObject {
                    $0.member("externalPurchaseId", token.id)
                    $0.member("tokenCreationDate", token.creationDate)
                    $0.member("appAppleId", app.appAppleId)
                    $0.member("bundleId", bundleId)
                    $0.member("tokenType", token.type)
                    $0.member("tokenExpirationDate", token.expirationDate)
                }
            )
        case .unclaimedSeats(let ids):
            (
                "unclaimInfo",
                jsonObject {
                    $0.member("appAppleId", app.appAppleId)
                    $0.member("bundleId", bundleId)
                    $0.member("environment", app.environment.rawValue)
                    $0.member("unclaimSeatIds", ids)
                }
            )
        case .appTransaction(let appTransaction):
            try appData(appTransaction, in: app, bundleId: bundleId, sign: sign)
        }
    }

    private func data(in app: SimulatedApp, bundleId: String, sign: ([UInt8]) throws -> String) rethrows -> [UInt8] {
        var transactionInfo: String?
        var renewalInfo: String?
        var status: Int64?
        var reason: String?
        if case .transaction(let transaction, let renewal, let consumptionReason) = content, let customer {
            transactionInfo = try sign(
                transaction.payload(of: customer, in: app, signedDate: date, bundleId: bundleId)
            )
            renewalInfo = try renewal.map { try sign($0.payload(of: customer, in: app, signedDate: date)) }
            status = renewal?.state.status
            reason = consumptionReason
        }
        return jsonObject {
            $0.member("appAppleId", app.appAppleId)
            $0.member("bundleId", bundleId)
            $0.member("bundleVersion", app.bundleVersion)
            $0.member("environment", app.environment.rawValue)
            $0.member("signedTransactionInfo", transactionInfo)
            $0.member("signedRenewalInfo", renewalInfo)
            $0.member("status", status)
            $0.member("consumptionRequestReason", reason)
        }
    }

    private func appData(
        _ appTransaction: SimulatedAppTransaction,
        in app: SimulatedApp,
        bundleId: String,
        sign: ([UInt8]) throws -> String
    ) rethrows -> (key: String, json: [UInt8]) {
        let signed = try sign(appTransaction.payload(in: app, signedDate: date, bundleId: bundleId))
        return (
            "appData",
            jsonObject {
                $0.member("appAppleId", app.appAppleId)
                $0.member("bundleId", bundleId)
                $0.member("environment", app.environment.rawValue)
                $0.member("signedAppTransactionInfo", signed)
            }
        )
    }
}

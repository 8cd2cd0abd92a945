import AppStoreModel
import SignedData
import StrictJSON

/// Signs records incorrectly, in the way a fault rule asks for.
struct FaultySigners: Sendable {
    private let genuine: JWSIssuer
    private let forged: JWSIssuer
    private let expired: JWSIssuer

    /// - `anchor`: The world's moment. The expired leaf certificate ends 600 days before it.
    init(authority: CertificateAuthority, anchor: UnixMilliseconds) throws(CertificateError) {
        genuine = authority.issuer
        let otherLeaf = try authority.intermediate.issue(.leaf(from: anchor - .days(400), to: anchor + .days(400)))
        forged = JWSIssuer(x5c: authority.chain, leaf: otherLeaf)
        let old = try authority.intermediate.issue(.leaf(from: anchor - .days(800), to: anchor - .days(600)))
        let chain = [old.der, authority.intermediate.der, authority.root.der]
        expired = JWSIssuer(x5c: chain, leaf: old)
    }

    /// The JWS of the record under `fault`, or `nil` when the fault does not change it.
    ///
    /// Renewal info does not say which app it belongs to, so `wrongBundle` does not change it.
    func sign(_ record: AnswerRecord, under fault: FaultRule.Fault, in app: SimulatedApp) throws -> String? {
        switch fault {
        case .forgeSignature: try sign(record, by: forged, bundleId: app.bundleId)
        case .expiredLeaf: try sign(record, by: expired, bundleId: app.bundleId)
        case .wrongBundle:
            record.hasBundleId ? try sign(record, by: genuine, bundleId: "com.example.other") : nil
        case .duplicateKey: try sign(record, by: genuine, bundleId: app.bundleId, duplicatesKey: true)
        case .omitPrice: try sign(record, in: app) { $0.filter { !["price", "currency"].contains($0.key) } }
        case .secondTransactionId:
            record.kind == "transaction" ? try sign(record, in: app, changing: Self.withSecondID) : nil
        default: nil
        }
    }

    /// Signs a record after a change of every transaction in it.
    private func sign(
        _ record: AnswerRecord,
        in app: SimulatedApp,
        changing change: ([JSONObject.Member]) -> [JSONObject.Member]
    ) throws -> String {
        func changed(_ payload: [UInt8]) throws -> [UInt8] {
            let object = try StrictJSON.parseObject(payload)
            guard object["transactionId"] != nil else { return payload }
            return JSONWriter.bytes(.object(JSONObject(change(object.members))))
        }
        let payload = try record.payload(app.bundleId) { try genuine.sign(payload: try changed($0)) }
        return try genuine.sign(payload: try changed(payload))
    }

    /// The members of a transaction under another ID; unchanged without a `webOrderLineItemId`, which both IDs share.
    private static func withSecondID(_ members: [JSONObject.Member]) -> [JSONObject.Member] {
        guard members.contains(where: { $0.key == "webOrderLineItemId" }) else { return members }
        return members.map { member in
            guard member.key == "transactionId", case .string(let id) = member.value, let number = UInt64(id) else {
                return member
            }
            return JSONObject.Member(key: member.key, value: .string(String(number + 1)))
        }
    }

    private func sign(
        _ record: AnswerRecord,
        by issuer: JWSIssuer,
        bundleId: String,
        duplicatesKey: Bool = false
    ) throws -> String {
        var payload = try record.payload(bundleId, genuine.sign(payload:))
        if duplicatesKey {
            // The first member again, with another value.
            let name = payload.dropFirst().prefix { $0 != UInt8(ascii: ":") }
            payload.removeLast()
            payload += [UInt8(ascii: ",")] + name + Array(":\"another\"}".utf8)
        }
        return try issuer.sign(payload: payload)
    }
}

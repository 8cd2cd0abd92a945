import AppStoreModel
import SignedData

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
        default: nil
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

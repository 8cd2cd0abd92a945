import AppStoreModel
import SignedData

/// Signs records wrongly, each time as a fault rule asks.
struct FalseIssuers: Sendable {
    private let genuine: JWSIssuer
    private let forged: JWSIssuer
    private let expired: JWSIssuer

    /// - `anchor`: The moment of the world; the expired leaf ran out long before every record of it.
    init(authority: CertificateAuthority, anchor: UnixMilliseconds) throws(CertificateError) {
        genuine = authority.issuer
        let stranger = try authority.intermediate.issue(.leaf(from: anchor - .days(400), to: anchor + .days(400)))
        forged = JWSIssuer(x5c: authority.chain, leaf: stranger)
        let old = try authority.intermediate.issue(.leaf(from: anchor - .days(800), to: anchor - .days(600)))
        let chain = [old.der, authority.intermediate.der, authority.root.der]
        expired = JWSIssuer(x5c: chain, leaf: old)
    }

    /// The whole JWS of the record as `fault` has it, or `nil` when the fault is not about signing.
    func jws(of record: PageItem, under fault: FaultRule.Fault, in app: SimulatedApp) throws -> [UInt8]? {
        switch fault {
        case .forgeSignature: try sign(record, by: forged, in: app, bundleId: app.bundleId)
        case .expiredLeaf: try sign(record, by: expired, in: app, bundleId: app.bundleId)
        case .wrongBundle: try sign(record, by: genuine, in: app, bundleId: "com.example.other")
        case .duplicateKey: try sign(record, by: genuine, in: app, bundleId: app.bundleId, doubled: true)
        default: nil
        }
    }

    private func sign(
        _ record: PageItem,
        by issuer: JWSIssuer,
        in app: SimulatedApp,
        bundleId: String,
        doubled: Bool = false
    ) throws -> [UInt8] {
        var payload = try record.payload(in: app, bundleId: bundleId, sign: genuine.sign(payload:))
        if doubled {
            payload.removeLast()
            payload += Array(",\"bundleId\":\"com.example.other\"}".utf8)
        }
        return Array(try issuer.sign(payload: payload).utf8)
    }
}

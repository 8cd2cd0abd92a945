import AppStoreModel
import Normalize
import SignedData

/// An App Store whose keys are made when the first input needs them, and a verifier that trusts it.
///
/// No input can contain a valid signature, because the keys are new every time; a target signs what the input says.
struct FuzzedStore: Sendable {
    static let now = UnixMilliseconds(rawValue: 1_795_000_000_000)  // 2026-11
    static let begin = now - .seconds(365 * 86_400)
    static let end = now + .seconds(365 * 86_400)
    static let bundleId = "com.example.game"

    let authority: CertificateAuthority
    let issuer: JWSIssuer
    let verifier: JWSVerifier
    let recordVerifier: RecordVerifier
    /// One record whose signature is the authority's, in three lengths of payload.
    let signed: [String]

    private init() throws {
        authority = try CertificateAuthority(from: Self.begin, to: Self.end)
        let issuer = authority.issuer
        self.issuer = issuer
        verifier = try JWSVerifier(trustedRoots: [authority.root.der])
        recordVerifier = RecordVerifier(
            bundleId: Self.bundleId,
            environment: .production,
            appAppleId: 1_234_567_890,
            verifier: verifier
        )
        signed = try ["1", "12", "123"].map { id in
            let payload = #"{"transactionId":"\#(id)","signedDate":\#(Self.now.rawValue)}"#
            return try issuer.sign(payload: Array(payload.utf8))
        }
    }

    static func shared() throws -> FuzzedStore {
        try store.get()
    }

    private static let store = Result { try FuzzedStore() }
}

import AppStoreModel
import SignedData
import Synchronization

/// Judges each bearer token once: a client sends the same one with thousands of requests.
final class KnownTokens: Sendable {
    /// A token that was accepted, and for how long that holds.
    private struct Known {
        let from: UnixMilliseconds
        let until: UnixMilliseconds
        let fingerprint: String
    }

    private let verifier: BearerTokenVerifier
    private let known = Mutex<[String: Known]>([:])
    /// Every process of a job has a token of its own, and a new one after some minutes.
    private static let most = 64

    init(_ verifier: BearerTokenVerifier) {
        self.verifier = verifier
    }

    /// Names the value of an `Authorization` header, and says whether it is a token that Apple would accept at `moment`.
    func judge(_ authorization: String, at moment: UnixMilliseconds) -> (fingerprint: String, isAccepted: Bool) {
        if let known = known.withLock({ $0[authorization] }), known.from <= moment, moment < known.until {
            return (known.fingerprint, true)
        }
        let fingerprint = SHA256.digest(of: Array(authorization.utf8)).prefix(4).hexadecimal
        let scheme = "Bearer "
        guard authorization.hasPrefix(scheme),
            // Apple does not say either why it refuses one.
            let expiry = try? verifier.verify(String(authorization.dropFirst(scheme.count)), now: moment)
        else { return (fingerprint, false) }
        known.withLock { known in
            if known.count == Self.most { known.removeAll() }
            known[authorization] = Known(from: moment, until: expiry, fingerprint: fingerprint)
        }
        return (fingerprint, true)
    }
}

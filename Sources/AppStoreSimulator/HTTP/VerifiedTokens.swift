import AppStoreModel
import Basics
import Hashing
import SignedData
import Synchronization

/// Verifies each bearer token once and keeps the result: a client sends the same token with thousands of requests.
final class VerifiedTokens: Sendable {
    /// A token that was accepted, and for how long it is valid.
    private struct Accepted {
        let from: UnixMilliseconds
        let until: UnixMilliseconds
        let fingerprint: String
    }

    private let verifier: BearerTokenVerifier
    private let accepted = Mutex<[String: Accepted]>([:])
    /// Each process of a job has its own token and replaces it after some minutes.
    private static let maximumCount = 64

    init(_ verifier: BearerTokenVerifier) {
        self.verifier = verifier
    }

    /// Checks the value of an `Authorization` header.
    ///
    /// - Returns: A short name for the value, and whether Apple would accept its token at `moment`.
    func check(_ authorization: String, at moment: UnixMilliseconds) -> (fingerprint: String, isAccepted: Bool) {
        if let known = accepted.withLock({ $0[authorization] }), known.from <= moment, moment < known.until {
            return (known.fingerprint, true)
        }
        let fingerprint = SHA256.digest(of: Array(authorization.utf8)).prefix(4).hexadecimal
        let scheme = "Bearer "
        guard authorization.hasPrefix(scheme),
            // The reason is dropped: Apple does not give one with 401 either.
            let expiry = try? verifier.verify(String(authorization.dropFirst(scheme.count)), now: moment)
        else { return (fingerprint, false) }
        accepted.withLock { accepted in
            if accepted.count == Self.maximumCount { accepted.removeAll() }
            accepted[authorization] = Accepted(from: moment, until: expiry, fingerprint: fingerprint)
        }
        return (fingerprint, true)
    }
}

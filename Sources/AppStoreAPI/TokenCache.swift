import AppStoreModel
import SignedData
import Synchronization

/// Keeps one bearer token for all requests until it is too old or Apple refuses it.
final class TokenCache: Sendable {
    private struct State {
        /// `nil` at the start and after a refusal.
        var signer: BearerTokenSigner?
        var current: BearerToken?
        var isRefused = false
    }

    private let signer: @Sendable () -> BearerTokenSigner
    private let state = Mutex(State())

    /// - Parameter signer: Called for the first token, and for the first one after a refusal.
    init(signer: @escaping @Sendable () -> BearerTokenSigner) {
        self.signer = signer
    }

    /// Returns the token for a request that begins now, and signs a new one if none can be reused.
    ///
    /// Signing happens inside the lock, so that concurrent requests share one token.
    func token(at now: UnixMilliseconds) throws(SigningError) -> BearerToken {
        try state.withLock { state throws(SigningError) in
            if let current = state.current, now < current.reuseUntil { return current }
            let signer = state.signer ?? self.signer()
            let new = try signer.token(at: now)
            state = State(signer: signer, current: new)
            return new
        }
    }

    /// Marks the current token as refused, if `token` is still the current one.
    func noteRefusal(of token: BearerToken) {
        state.withLock { state in
            if state.current?.text.reveal() == token.text.reveal() { state.isRefused = true }
        }
    }

    /// Drops the current token if it was refused.
    func replaceRefused() {
        state.withLock { state in
            if state.isRefused { state = State() }
        }
    }
}

import AppStoreModel
import SignedData
import Synchronization

/// Keeps one bearer token for all requests until it is too old or Apple refuses it.
final class TokenCache: Sendable {
    private struct State {
        var current: BearerToken?
        var isRefused = false
    }

    private let signer: BearerTokenSigner
    private let state = Mutex(State())

    init(signer: BearerTokenSigner) {
        self.signer = signer
    }

    /// Returns the token for a request that begins now, and signs a new one if none can be reused.
    ///
    /// Signing happens inside the lock, so that concurrent requests share one token.
    func token(at now: UnixMilliseconds) throws(SigningError) -> BearerToken {
        try state.withLock { state throws(SigningError) in
            if let current = state.current, now < current.reuseUntil { return current }
            let new = try signer.token(at: now)
            state = State(current: new)
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

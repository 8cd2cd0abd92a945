import AppStoreModel
import SignedData
import Synchronization

/// Keeps one bearer token for all requests until it is too old, or Apple keeps refusing it.
///
/// Apple can refuse a good token for a moment, for example because it was signed less than a second ago. So a refused token is
/// used again, and is replaced only if Apple refuses it again after ``State/patience``.
final class TokenCache: Sendable {
    private struct State {
        /// `nil` at the start and after a refusal.
        var signer: BearerTokenSigner?
        var current: BearerToken?
        /// When Apple first refused `current`; `nil` if it has not, or has accepted it since.
        var refusedAt: Duration?
        /// Tokens replaced since Apple last accepted one.
        var replaced = 0
        /// When Apple last refused a token; `nil` if it has accepted one since.
        var lastRefusal: Duration?
        /// For how long Apple has accepted no token.
        var refusedFor = Duration.zero
        var hasAccepted = false

        /// How long a refused token is used again.
        ///
        /// It doubles with each token, so that a new token gets old enough for a server whose clock is seconds behind, although
        /// many workers send requests.
        var patience: Duration { Duration.milliseconds(400) * (1 << min(replaced, 4)) }
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
            state.signer = signer
            state.current = new
            state.refusedAt = nil
            return new
        }
    }

    /// Records an answer other than 401.
    ///
    /// - Parameter isSuccess: Whether only Apple can have given the answer, and only to a good token.
    func noteAnswer(isSuccess: Bool) {
        state.withLock { state in
            state.refusedAt = nil
            state.replaced = 0
            state.lastRefusal = nil
            state.refusedFor = .zero
            if isSuccess { state.hasAccepted = true }
        }
    }

    /// Records a 401, and drops the token if Apple keeps refusing it.
    ///
    /// - Parameter now: The time of the answer, on a clock that never goes back.
    /// - Returns: The refusals so far.
    func noteRefusal(of token: BearerToken, at now: Duration) -> TokenRefusals {
        state.withLock { state in
            if let last = state.lastRefusal { state.refusedFor += min(now - last, TokenRefusals.longestGap) }
            state.lastRefusal = now
            if state.current?.text.reveal() == token.text.reveal() {
                let refusedAt = state.refusedAt ?? now
                state.refusedAt = refusedAt
                if now - refusedAt >= state.patience {
                    state.current = nil
                    state.signer = nil
                    state.replaced += 1
                }
            }
            return TokenRefusals(duration: state.refusedFor, keyWasAccepted: state.hasAccepted)
        }
    }
}

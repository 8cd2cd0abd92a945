import AppStoreModel
import SignedData
import Synchronization

/// Keeps one bearer token for all requests until it is too old or refused.
final class TokenKeeper: Sendable {
    private struct State {
        var current: BearerToken?
        var isRefused = false
    }

    private let signer: BearerTokenSigner
    private let state = Mutex(State())

    init(signer: BearerTokenSigner) {
        self.signer = signer
    }

    /// The token for a request that begins now; signs a new one when there is none to reuse.
    ///
    /// Signing happens inside the lock, so that requests that begin at once share one signature.
    func token(at now: UnixMilliseconds) throws(SigningError) -> BearerToken {
        try state.withLock { state throws(SigningError) in
            if let current = state.current, now < current.reuseUntil { return current }
            let new = try signer.token(at: now)
            state = State(current: new)
            return new
        }
    }

    /// Remembers a 401, unless the token it was said of is out of use already.
    func noteRefusal(of token: BearerToken) {
        state.withLock { state in
            if state.current?.text.reveal() == token.text.reveal() { state.isRefused = true }
        }
    }

    /// Lets go of the current token if it was refused.
    func replaceRefused() {
        state.withLock { state in
            if state.isRefused { state = State() }
        }
    }
}

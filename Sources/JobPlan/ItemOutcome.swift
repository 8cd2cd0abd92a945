package import AppStoreModel

/// What becomes of an item that gave no page; `code` is Apple's error code or the HTTP status.
package enum ItemOutcome: Equatable, Sendable {
    /// Over for this run; the cursor is kept for the next.
    case failed(code: Int64?, message: String)
    /// Any worker may take the item after `delay`; the cursor is kept. Waiting is not failing.
    case putOff(delay: Duration, code: Int64?, message: String)
    /// Apple refused the cursor: the item starts again at its first page, at once.
    case restarted(code: Int64?, message: String)
    /// Apple no longer serves the window's beginning: it starts again where Apple's reach begins now.
    case shortened(code: Int64?, message: String)
    /// Apple's production does not know the ID: the item continues in `environment`.
    case moved(AppStoreEnvironment)
}

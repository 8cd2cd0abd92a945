package import AppStoreModel

/// The outcome of an item whose page could not be fetched.
///
/// `code` is Apple's error code, or the HTTP status of an answer without one.
package enum ItemOutcome: Equatable, Sendable {
    /// The item ends for this run.
    ///
    /// Its cursor is kept for the next run.
    case failed(code: Int64?, message: String)
    /// Any worker may take the item after `delay`.
    ///
    /// Its cursor is kept, and it does not count as failed.
    case deferred(delay: Duration, code: Int64?, message: String)
    /// Apple refused the cursor.
    ///
    /// The item starts again at its first page, at once.
    case restarted(code: Int64?, message: String)
    /// Apple no longer serves the start of the window.
    ///
    /// The window now starts at the oldest date that Apple serves.
    case shortened(code: Int64?, message: String)
    /// Apple's production environment does not know the ID.
    ///
    /// The item continues in `environment`.
    case moved(AppStoreEnvironment)
}

package import AppStoreModel

/// Counts the requests of all processes and machines of an app against Apple's limit.
///
/// A unit is counted before its request is sent. It stays counted for one whole window after the last moment at which
/// the request could reach Apple.
package protocol RateLedger: Sendable {
    /// Takes units from the stream's limit.
    ///
    /// Every granted unit is spent, even if no request is sent.
    ///
    /// - Parameters:
    ///   - stream: Whose limit.
    ///   - count: At least 1.
    /// - Returns: 0 to `count` units, and when to ask again.
    /// - Throws: Errors of the ledger. Units may be spent even then.
    func take(_ stream: StreamName, atMost count: Int) async throws -> RateGrant

    /// Stops granting units to all processes for `wait`, because Apple answered 429.
    ///
    /// The argument is a duration, not a moment, because only the ledger's clock is common to all machines.
    func close(_ stream: StreamName, for wait: Duration) async throws
}

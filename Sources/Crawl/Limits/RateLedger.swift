package import AppStoreModel

/// Where the spent part of Apple's limit is kept, for every process and machine of an app.
///
/// A unit is counted before the request it allows is sent, and stays counted for a whole window
/// after the last moment the request could still reach Apple.
package protocol RateLedger: Sendable {
    /// Takes units from the stream's limit.
    ///
    /// Every unit of the answer is spent, whether a request follows or not.
    ///
    /// - Parameters:
    ///   - stream: Whose limit.
    ///   - count: At least 1.
    /// - Returns: 0 to `count` units, and when to ask again.
    /// - Throws: Whatever keeps the ledger from answering; units may be spent all the same.
    func take(_ stream: StreamName, atMost count: Int) async throws -> RateGrant

    /// Grants nothing more to anybody for so long: Apple answered 429.
    ///
    /// A length of time, not a moment: the machines agree on nothing but the ledger's clock.
    func close(_ stream: StreamName, for wait: Duration) async throws
}

/// What the ledger allowed.
package struct RateGrant: Equatable, Sendable {
    /// 0 to what was asked for.
    package let granted: Int
    /// How long until asking again makes sense; above zero where nothing was granted.
    package let wait: Duration
    /// The ledger's clock when it answered; `nil` for a ledger without one of its own.
    package let clock: UnixMilliseconds?
    /// Whether the wait is only for the even pace, and nothing is spent or closed.
    package let isPaced: Bool

    package init(granted: Int, wait: Duration, clock: UnixMilliseconds? = nil, isPaced: Bool = false) {
        self.granted = granted
        self.wait = wait
        self.clock = clock
        self.isPaced = isPaced
    }
}

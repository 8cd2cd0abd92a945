package import AppStoreModel
package import Basics
package import LedgerSchema
package import Postgres

/// The durable sliding-window rate limiter of one app, shared by every process and machine.
///
/// The function `rate_take` in `sql/functions/rate_limit.sql` describes the algorithm and its guarantee.
package struct PostgresRateLedger: RateLedger {
    /// The part of an endpoint's limit that one job may use.
    package struct Share: Sendable {
        /// Requests in every rolling window.
        package let budget: Int
        package let window: RateWindow

        /// - Parameters:
        ///   - requestsPerSecond: The part of Apple's limit that the job may use.
        ///   - window: An hour; against the simulator it can be less.
        package init(requestsPerSecond: Double, window: RateWindow) {
            let seconds = Double(window.length.components.seconds)
            budget = max(1, Int((requestsPerSecond * seconds).rounded(.down)))
            self.window = window
        }
    }

    private let pool: RetryingPool
    private let app: AppID
    private let shares: [StreamName: Share]

    /// - Parameters:
    ///   - pool: Its sessions find the ledger's schema without a prefix.
    ///   - app: Whose limits.
    ///   - shares: For each stream that is asked for.
    package init(pool: RetryingPool, app: AppID, shares: [StreamName: Share]) {
        self.pool = pool
        self.app = app
        self.shares = shares
    }

    /// Takes requests from the budget.
    ///
    /// They count from now on, even if they are not sent.
    package func take(_ stream: StreamName, atMost count: Int) async throws -> RateGrant {
        guard let share = shares[stream] else { throw MissingShare(stream: stream) }
        let app = app
        // A single statement commits by itself: it is durable before the request is sent, and a lost connection cannot
        // leave a lock behind.
        let grant = try await pool.withConnection { connection in
            let rows = try connection.run(
                .takeRequests,
                [
                    "app": .integer(app.rawValue),
                    "endpoint": .text(stream.rawValue),
                    "count": .integer(Int32(clamping: count)),
                    "budget": .integer(Int32(clamping: share.budget)),
                    "window_milliseconds": .bigint(share.window.length.wholeMilliseconds),
                    "grant_milliseconds": .bigint(share.window.grantLife.wholeMilliseconds),
                    "flight_milliseconds": .bigint(share.window.flightTime.wholeMilliseconds),
                ]
            )
            crashPoint(.grantTaken)
            return RateGrant(
                granted: Int(try rows[0].int64("granted")),
                wait: .milliseconds(try rows[0].int64("wait_ms")),
                refusal: try rows[0].textOrNil("reason").flatMap(RateGrant.Refusal.init(rawValue:)),
                clock: UnixMilliseconds(rawValue: try rows[0].timestamp("clock")),
                latest: try rows[0].timestampOrNil("latest").map(UnixMilliseconds.init(rawValue:))
            )
        }
        crashPoint(.grantCommitted)
        return grant
    }

    /// Closes the endpoint for all workers, on the ledger's clock.
    ///
    /// An earlier closing is never shortened.
    ///
    /// Each closing halves the rate of all workers together. Each sixth of a window without a 429 gives back a
    /// twentieth of the full rate.
    package func close(_ stream: StreamName, for wait: Duration) async throws {
        guard let share = shares[stream] else { throw MissingShare(stream: stream) }
        let app = app
        try await pool.withConnection { connection in
            _ = try connection.run(
                .closeEndpoint,
                [
                    "app": .integer(app.rawValue),
                    "endpoint": .text(stream.rawValue),
                    "wait_milliseconds": .bigint(wait.wholeMilliseconds),
                    "window_milliseconds": .bigint(share.window.length.wholeMilliseconds),
                ]
            )
        }
    }
}

/// The ledger was asked for a stream without a share: an internal error.
package struct MissingShare: ExplainedError, Equatable, Sendable, CustomStringConvertible {
    package let stream: StreamName

    package var description: String {
        "internal error in the ledger, please report it: no share for \(stream.rawValue)"
    }

    package var status: ExitStatus { .bug }
}

package import AppStoreModel
import LedgerTables
import Postgres
import Workers

/// The durable sliding ledger of one app's requests, shared by every process and machine.
///
/// `rate_take` in `sql/migrations/0004_rate_ledger.sql` has the algorithm and its promise.
package struct BudgetLedger: Sendable {
    /// What one job may take of an endpoint's limit.
    package struct Share: Sendable {
        /// Requests in every rolling window.
        package let budget: Int
        package let window: RateWindow

        /// - Parameters:
        ///   - requestsPerSecond: The part of Apple's limit the job may use.
        ///   - window: An hour, or shorter in a rehearsal.
        package init(requestsPerSecond: Double, window: RateWindow) {
            let seconds = Double(window.length.components.seconds)
            budget = max(1, Int((requestsPerSecond * seconds).rounded(.down)))
            self.window = window
        }
    }

    /// What ``take(_:atMost:)`` answered.
    package struct Grant: Sendable, Equatable {
        package let granted: Int
        /// How long until asking again makes sense; zero when something was granted.
        package let wait: Duration
        /// `pace`, `budget`, `closed` or `clock`, which was set back; `nil` when something was granted.
        package let reason: String?
        /// The ledger's clock when it answered.
        package let clock: UnixMilliseconds
    }

    let ledger: Ledger
    let app: AppID
    let shares: [StreamName: Share]

    package init(ledger: Ledger, app: AppID, shares: [StreamName: Share]) {
        self.ledger = ledger
        self.app = app
        self.shares = shares
    }

    /// Takes requests from the budget; they count from now on, sent or not.
    package func take(_ stream: StreamName, atMost count: Int) async throws -> Grant {
        guard let share = shares[stream] else { throw LedgerError.invariant("no share for \(stream.rawValue)") }
        let app = app
        // One statement, which commits by itself: durable before the request leaves, and a machine that is cut off between
        // two messages cannot leave everybody waiting for a lock.
        let grant = try await ledger.persistently(on: .control) { connection in
            let rows = try connection.run(
                """
                SELECT granted, wait_ms, reason, clock_timestamp() AS clock FROM rate_take($1::integer, $2::text, $3::integer, $4::integer,
                    $5::bigint * interval '1 millisecond', $6::bigint * interval '1 millisecond',
                    $7::bigint * interval '1 millisecond')
                """,
                [
                    .integer(app.rawValue), .text(stream.rawValue), .integer(Int32(clamping: count)),
                    .integer(Int32(clamping: share.budget)), .bigint(share.window.length.wholeMilliseconds),
                    .bigint(share.window.grantLife.wholeMilliseconds),
                    .bigint(share.window.flightTime.wholeMilliseconds),
                ]
            )
            crashPoint(.grantTaken)
            return Grant(
                granted: Int(try rows[0].int64("granted")),
                wait: .milliseconds(try rows[0].int64("wait_ms")),
                reason: try rows[0].textOrNil("reason"),
                clock: UnixMilliseconds(rawValue: try rows[0].timestamp("clock"))
            )
        }
        crashPoint(.grantCommitted)
        return grant
    }

    /// Closes the endpoint for every worker for so long, on the ledger's own clock; never opens it earlier than before.
    ///
    /// Afterwards all of them together go half as fast, and regain a twentieth in every quiet sixth of a window.
    package func close(_ stream: StreamName, for wait: Duration) async throws {
        guard let share = shares[stream] else { throw LedgerError.invariant("no share for \(stream.rawValue)") }
        let app = app
        try await ledger.persistently(on: .control) { connection in
            _ = try connection.run(
                """
                SELECT rate_close($1::integer, $2::text, $3::bigint * interval '1 millisecond',
                    $4::bigint * interval '1 millisecond')
                """,
                [
                    .integer(app.rawValue), .text(stream.rawValue), .bigint(wait.wholeMilliseconds),
                    .bigint(share.window.length.wholeMilliseconds),
                ]
            )
        }
    }
}

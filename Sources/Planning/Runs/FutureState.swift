import AppStoreModel
import Basics
import JobPlan
import Ledger
import LedgerSchema
import Postgres

/// What a run has written about moments after PostgreSQL's present time, because the clock was ahead and was then set right.
///
/// A run that is planned from such moments would skip the time until then.
enum FutureState {
    /// The moment after which nothing has happened yet, as an SQL expression.
    ///
    /// - Parameter now: The parameter with ``Ledger/RunPlan/latestNow``. PostgreSQL's clock has moved on since.
    static func latest(_ now: String) -> String { "greatest(\(now)::timestamptz, clock_timestamp())" }

    /// A query for the job's runs from the future, as an SQL expression.
    ///
    /// Parameters: 1 app, 2 job, and `now` as in ``latest(_:)``.
    static func runs(now: String) -> String {
        "SELECT run_id FROM runs WHERE app_id = $1 AND job = $2 AND frozen_now > \(latest(now))"
    }

    /// Forgets what the job's runs from the future say about its items: their completeness, and until when notifications were
    /// followed.
    ///
    /// The items are requested again. Without such a run the items are not searched. ``WindowPlanner`` forgets the windows.
    ///
    /// - Throws: ``Postgres/PostgresError``.
    static func forget(_ plan: RunPlan, on connection: borrowing PostgresConnection) throws(PostgresError) {
        let key: [Cell] = [.integer(plan.app.rawValue), .text(plan.job.name), .timestamp(plan.latestNow.rawValue)]
        _ = try connection.run(
            """
            UPDATE crawl_items SET state = 'failed', claimable_at = NULL, lease_owner = NULL, complete_until = NULL,
                   error_message = 'it was read while PostgreSQL''s clock was ahead'
             WHERE app_id = $1 AND job = $2 AND complete_until > \(latest("$3"))
               AND EXISTS (\(runs(now: "$3")))
            """,
            key
        )
        _ = try connection.run(
            """
            UPDATE runs SET followed_until = CASE WHEN followed_until <= \(latest("$3")) THEN followed_until END,
                   refunds_followed_until = CASE WHEN refunds_followed_until <= \(latest("$3")) THEN refunds_followed_until END
             WHERE app_id = $1 AND job = $2
               AND greatest(followed_until, refunds_followed_until) > \(latest("$3"))
            """,
            key
        )
    }

    /// Makes items of a run available that would become so in more than ``longestWait``.
    ///
    /// No lease and no deferral lasts that long, so PostgreSQL's clock was ahead when the item was leased, released or
    /// postponed.
    ///
    /// - Throws: ``Postgres/PostgresError``.
    static func releaseItems(
        of run: Int64,
        _ plan: RunPlan,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        _ = try connection.run(
            """
            UPDATE crawl_items SET claimable_at = clock_timestamp()
             WHERE app_id = $1 AND job = $2 AND run_id = $3
               AND claimable_at > clock_timestamp() + $4::bigint * interval '1 millisecond'
            """,
            [
                .integer(plan.app.rawValue), .text(plan.job.name), .bigint(run),
                .bigint(longestWait.wholeMilliseconds),
            ]
        )
    }

    /// Longer than a lease and than every deferral, which lasts at most 32 min.
    private static let longestWait = Duration.seconds(3_600)
}

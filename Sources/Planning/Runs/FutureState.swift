import AppStoreModel
import Basics
import JobFiles
import Ledger
import LedgerSchema
import Postgres

/// What a run has written about moments after PostgreSQL's present time, because the clock was ahead and was then set right.
///
/// A run that is planned from such moments would skip the time until then.
enum FutureState {
    /// Forgets what the job's runs from the future say about its items: their completeness, and until when notifications were
    /// followed.
    ///
    /// ``WindowPlanner`` forgets the windows.
    ///
    /// - Throws: ``Postgres/PostgresError``.
    static func forget(_ plan: RunPlan, on connection: borrowing PostgresConnection) throws(PostgresError) {
        let values: KeyValuePairs<String, Cell> = [
            "app": .integer(plan.app.rawValue),
            "job": .text(plan.job.name),
            "latest_now": .timestamp(plan.latestNow.rawValue),
        ]
        _ = try connection.run(
            .forgetCompleteness,
            values
        )
        _ = try connection.run(
            .forgetFollowed,
            values
        )
    }

    /// Makes items of a run available at once that would become available only after more than ``longestWait``.
    ///
    /// No lease and no deferral lasts that long, so the clock was ahead when their time was set.
    ///
    /// - Throws: ``Postgres/PostgresError``.
    static func releaseItems(
        of run: Int64,
        _ plan: RunPlan,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        _ = try connection.run(
            .releaseItems,
            [
                "app": .integer(plan.app.rawValue),
                "job": .text(plan.job.name),
                "run": .bigint(run),
                "longest_milliseconds": .bigint(longestWait.wholeMilliseconds),
            ]
        )
    }

    /// Longer than a lease and than every deferral, which lasts at most 32 min.
    private static let longestWait = Duration.seconds(3_600)
}

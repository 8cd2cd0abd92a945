package import AppStoreModel
import JobPlan
import LedgerTables
import Postgres
import Workers

/// What a run with `changedSince` found in the notifications.
package struct NamedCustomers: Sendable, Equatable {
    /// Customers that are asked for now.
    package let planned: Int64
    /// Of those that notifications named, the erased ones.
    package let withheld: Int64
}

/// Whom `changedSince` would name by what the ledger holds already.
package struct ChangedSoFar: Sendable, Equatable {
    package let customers: Int64
    /// Until when an earlier run has followed notifications; `nil` when none has.
    package let followedUntil: UnixMilliseconds?
    /// Until when the job has asked for notifications.
    package let notificationsUntil: UnixMilliseconds?
}

extension Ledger {
    /// Once the app's notifications have reached their end: plans the histories of the customers they name.
    ///
    /// One transaction, once a run: it moves the run out of phase 0. Several processes may call it; the first one plans,
    /// the others wait for it and find it done. Killed before, the run still is in phase 0 and its notifications are there;
    /// killed after, its items are. What a window that failed would have named is looked for again by the next run.
    /// - Returns: Whom this call planned; `nil` when another did.
    /// - Throws: ``Postgres/PostgresError``.
    package func planChangedCustomers(_ plan: RunPlan, run: Int64) async throws -> NamedCustomers? {
        try await transaction { connection in
            try connection.script(Self.usualPlanner)
            let key: [Cell] = [.integer(plan.app.rawValue), .bigint(run)]
            // Looking through the notifications of half a year may take longer than a lock is otherwise worth waiting for.
            let purpose = "another process to read the notifications of \(plan.job.name)"
            let moved = try Self.waiting(plan.lockPatience, for: purpose, .table("runs"), on: connection) {
                try $0.run(
                    "UPDATE runs SET phase = 1 WHERE app_id = $1 AND run_id = $2 AND phase = 0 AND finished_at IS NULL",
                    key
                ).affected
            }
            guard moved == 1 else { return nil }
            let changed = ChangedCustomers(plan: plan)
            let since = try changed.since(on: connection)
            _ = try connection.run(
                "INSERT INTO stage_ids (item_key) \(ChangedCustomers.query)",
                changed.parameters(since: since)
            )
            crashPoint(.customersNamed)
            var start = RunStart(run: run, now: plan.now, joined: true, restarted: plan.restart)
            let planner = ItemPlanner(plan: plan)
            start.withheldIDs = try planner.dropErased(on: connection)
            start.listedIDs = try connection.run("SELECT count(*) AS ids FROM stage_ids")[0].int64("ids")
            for stream in plan.streamsOfIDs {
                try planner.planItems(of: stream, in: &start, on: connection)
            }
            try Staging.emptyIDs(on: connection)
            _ = try connection.run(
                """
                UPDATE runs SET listed_ids = $3, withheld_ids = $4, followed_until = \(ChangedCustomers.followedUntil)
                 WHERE app_id = $1 AND run_id = $2
                """,
                key + [
                    .bigint(start.listedIDs), .bigint(start.withheldIDs),
                    plan.changedSince == .lastRun ? .timestamp(plan.now.rawValue) : .null,
                    .text(plan.job.name), .timestamp(plan.oldestNotification.rawValue),
                ]
            )
            return NamedCustomers(planned: start.listedIDs, withheld: start.withheldIDs)
        }
    }

    /// Whom a run would ask for if no further notification came; writes nothing.
    ///
    /// - Throws: ``Postgres/PostgresError``.
    package func changedSoFar(_ plan: RunPlan) async throws -> ChangedSoFar {
        try await transaction(.readOnlySnapshot) { connection in
            try connection.script(Self.usualPlanner)
            let changed = ChangedCustomers(plan: plan)
            let since = try changed.since(on: connection)
            let row = try connection.run(
                "SELECT count(*) AS customers FROM (\(ChangedCustomers.query)) AS named (item_key)",
                changed.parameters(since: since)
            )[0]
            let asked = try connection.run(
                """
                SELECT max(window_end) AS until FROM crawl_items
                 WHERE app_id = $1 AND job = $2 AND stream = 'notificationHistory'
                """,
                [.integer(plan.app.rawValue), .text(plan.job.name)]
            )[0]
            return ChangedSoFar(
                customers: try row.int64("customers"),
                followedUntil: try changed.followedUntil(on: connection),
                notificationsUntil: try asked.timestampOrNil("until").map(UnixMilliseconds.init(rawValue:))
            )
        }
    }
}

/// Whom the notifications in the ledger name, and who of them was not asked for since.
///
/// The answer depends on nothing but rows that are committed: of each customer, how far the history is complete. So
/// whoever was named and not asked, because a run was superseded, an item failed or a window came late, is named again.
struct ChangedCustomers {
    let plan: RunPlan

    private var key: [Cell] { [.integer(plan.app.rawValue), .text(plan.job.name)] }

    /// From when on notifications are looked at; `nil` for all the ledger has.
    func since(on connection: borrowing PostgresConnection) throws -> UnixMilliseconds? {
        guard let changedSince = plan.changedSince else {
            throw LedgerError.invariant("the job \(plan.job.name) does not follow notifications")
        }
        guard changedSince == .lastRun else { return changedSince.resolve(now: plan.now, lastRun: nil) }
        guard !plan.restart, let until = try followedUntil(on: connection) else { return nil }
        return until - ItemPlanner.overlap
    }

    /// Until when an earlier run of the job has followed notifications without a hole.
    func followedUntil(on connection: borrowing PostgresConnection) throws -> UnixMilliseconds? {
        try connection.run("SELECT max(followed_until) AS until FROM runs WHERE app_id = $1 AND job = $2", key)[0]
            .timestampOrNil("until").map(UnixMilliseconds.init(rawValue:))
    }

    /// Whether no history of any customer was ever complete, so that customers without a notification stay unknown.
    func knowsNobody(on connection: borrowing PostgresConnection) throws -> Bool {
        try connection.run(
            """
            SELECT NOT EXISTS (SELECT FROM crawl_items WHERE app_id = $1 AND stream = ANY ($2::text[])
                                  AND complete_until IS NOT NULL AND item_key ~ '^[0-9]{1,20}$') AS nobody
            """,
            [key[0], .textArray(plan.streamsOfIDs.map(\.rawValue))]
        )[0].bool("nobody")
    }

    /// What the operator should know before the run: whom it cannot find.
    func remarks(on since: DateExpression, _ connection: borrowing PostgresConnection) throws -> [String] {
        let days = plan.job.app.environment.notificationReach.components.seconds / 86_400
        if since == .lastRun {
            guard try knowsNobody(on: connection) else { return [] }
            return [
                """
                no run has asked for a customer yet: this one finds those whom notifications of the last \(days) days name; \
                run once with list, csv or query to have the others too
                """
            ]
        }
        guard let moment = since.resolve(now: plan.now, lastRun: nil), moment < plan.oldestNotification else {
            return []
        }
        return [
            """
            Apple keeps notifications for \(days) days; who changed between changedSince and then is found only as far as \
            the ledger holds older ones
            """
        ]
    }

    /// The moment up to which this run follows: its own end, or where the first window begins that it could not finish.
    ///
    /// Parameters: 1 app, 2 run, 5 the run's end or NULL, 6 job, 7 Apple's reach.
    static let followedUntil = """
        (SELECT least($5::timestamptz, min(i.window_start)) FROM crawl_items i
          WHERE i.app_id = $1 AND i.job = $6 AND i.stream = 'notificationHistory' AND i.run_id = $2
            AND i.state <> 'done' AND i.window_end > $7::timestamptz AND $5::timestamptz IS NOT NULL)
        """

    func parameters(since: UnixMilliseconds?) -> [Cell] {
        let streams = plan.streamsOfIDs
        return key + [
            .textArray(streams.map(\.rawValue)),
            .textArray(streams.map { plan.job.queryFingerprint(for: $0) }),
            since.map { .timestamp($0.rawValue) } ?? .null,
            // A date says whom to ask, and a restart everybody, whoever was asked since.
            .boolean(plan.restart || plan.changedSince != .lastRun),
            .bigint(ItemPlanner.overlap.wholeMilliseconds),
            plan.changedSince == .lastRun ? since.map { .timestamp($0.rawValue) } ?? .null : .null,
        ]
    }

    /// One ID for each customer.
    ///
    /// A notification names a purchase; its customer is asked for under the ID that earlier crawls used, for there the
    /// cursor is: the purchase's own, or the one under whose history it, or another purchase of the customer, came. A
    /// notification about the app alone names only customers who are known.
    /// Parameters: 1 app, 2 job, 3 streams and 4 their filters, 5 since, 6 whether to ask again whoever was asked since,
    /// 7 how much later than a notification a history must have been read to show what the notification is about, in ms,
    /// 8 from when on a notification of any age counts that came into the ledger late, by a replay or another job.
    static let query = """
        WITH asked AS (SELECT * FROM unnest($3::text[], $4::text[]) AS a (stream, fingerprint)),
        jobs AS (SELECT DISTINCT job FROM runs WHERE app_id = $1),
        named AS MATERIALIZED (
            SELECT coalesce(original_transaction_id, transaction_id) AS id, app_transaction_id, max(signed_date) AS at
              FROM notifications
             WHERE app_id = $1 AND (signed_date >= coalesce($5::timestamptz, '-infinity') OR first_seen_at >= $8::timestamptz)
               AND coalesce(original_transaction_id, transaction_id, app_transaction_id) IS NOT NULL
             GROUP BY 1, 2
        ), known AS MATERIALIZED (
            SELECT n.*, coalesce(
                       (SELECT i.item_key FROM crawl_items i
                         WHERE i.app_id = $1 AND i.job = $2 AND i.stream = ANY ($3::text[]) AND i.item_key = n.id LIMIT 1),
                       (\(listed("t.original_transaction_id = n.id"))),
                       (\(listed("t.app_transaction_id = n.app_transaction_id")))) AS item_key
              FROM named n
        ), customers AS (
            SELECT coalesce(item_key, min(id) OVER (PARTITION BY coalesce('app ' || app_transaction_id, id))) AS item_key, at
              FROM known WHERE coalesce(item_key, id) ~ '^[0-9]{1,20}$'
        ), latest AS (
            SELECT item_key, max(at) AS at FROM customers GROUP BY item_key
        )
        SELECT l.item_key FROM latest l
         WHERE $6::boolean
            OR EXISTS (SELECT FROM asked a WHERE NOT EXISTS (
                   SELECT FROM jobs j JOIN crawl_items i
                       ON i.app_id = $1 AND i.job = j.job AND i.stream = a.stream AND i.item_key = l.item_key
                    WHERE i.fingerprint = a.fingerprint AND i.other_environment IS NULL
                      AND i.complete_until >= l.at + $7::bigint * interval '1 millisecond'))
         UNION
        SELECT i.item_key FROM crawl_items i
         WHERE i.app_id = $1 AND i.job = $2 AND i.stream = ANY ($3::text[]) AND i.state = 'failed'
           AND i.item_key ~ '^[0-9]{1,20}$'
        """

    /// The ID under which a purchase of the customer was found, one this job has asked for before any other.
    private static func listed(_ condition: String) -> String {
        """
        SELECT d.id FROM (SELECT DISTINCT t.listed_transaction_id AS id FROM transactions t
                           WHERE t.app_id = $1 AND \(condition) AND t.listed_transaction_id IS NOT NULL) d
         ORDER BY EXISTS (SELECT FROM crawl_items i WHERE i.app_id = $1 AND i.job = $2 AND i.stream = ANY ($3::text[])
                             AND i.item_key = d.id) DESC, d.id LIMIT 1
        """
    }
}

import AppStoreModel
package import Ledger
package import LedgerSchema
package import Postgres

/// The notifications of one app that are still to be posted to further servers: the table `forwards`.
///
/// Delivery is at least once. A receiver that is killed between the answer of the server and the commit has not recorded the delivery,
/// and the notification is posted again.
package struct ForwardQueue: Sendable {
    /// How long a receiver has a notification for itself; longer than an attempt takes.
    package static let lease = Duration.seconds(30)
    /// After this time an undelivered notification is given up: Apple's last attempt is about as late.
    package static let term = Duration.seconds(72 * 3_600)
    /// How long a given-up notification can be seen, in PostgreSQL's syntax.
    private static let givenUpTerm = "30 days"
    /// The most notifications that one statement gives up.
    private static let mostGivenUp: Int64 = 1_000

    private let app: AppID
    private let claiming: PostgresPool
    private let recording: PostgresPool

    init(app: AppID, claiming: PostgresPool, recording: PostgresPool) {
        self.app = app
        self.claiming = claiming
        self.recording = recording
    }

    /// Adds notifications for each URL, in their order, inside the transaction that stores them.
    ///
    /// - Parameter destinations: URLs without their query.
    static func add(
        _ notifications: [ReceivedNotification],
        to destinations: [String],
        app: AppID,
        on connection: borrowing PostgresConnection
    ) throws {
        let rows = notifications.flatMap { notification -> [[Cell]] in
            guard let forward = notification.forward else { return [] }
            let customer = Cell.text(forward.customer ?? notification.key)
            return destinations.map { [.text($0), .text(notification.key), customer, .bytea(forward.body)] }
        }
        guard !rows.isEmpty else { return }
        try connection.copyIn(
            "forwards",
            columns: ["destination", "notification_uuid", "customer", "body"],
            rows: rows,
            constants: [("app_id", .integer(app.rawValue))]
        )
    }

    /// A notification that one receiver posts now.
    package struct Claim: Sendable, Equatable {
        package let id: Int64
        package let notificationUUID: String
        /// 1 for the first.
        package let attempt: Int32
        package let body: [UInt8]
    }

    /// Takes notifications that are due, at most one of each customer.
    ///
    /// Notifications of erased customers are removed. An erasure deletes the rows that it finds. No receiver forwards a notification that
    /// is stored after the erasure, because its text is compared with the tombstones here. Erasures are blocked before rows are locked, as
    /// every other writer does it.
    ///
    /// - Parameters:
    ///   - destination: The URL without its query.
    ///   - most: The most notifications.
    /// - Throws: ``Postgres/PostgresError``.
    package func claim(for destination: String, atMost most: Int) async throws -> [Claim] {
        try await transaction(of: claiming) { connection in
            let tombstones = try Tombstones.blockingErasures(of: app, on: connection)
            let rows = try connection.run(
                .claimForwards,
                [
                    "app": .integer(app.rawValue), "destination": .text(destination), "most": .bigint(Int64(most)),
                    "lease": .bigint(Self.lease.wholeMilliseconds),
                ]
            )
            let claims = try rows.map { row in
                Claim(
                    id: try row.int64("forward_id"),
                    notificationUUID: try row.text("notification_uuid"),
                    attempt: try row.int32("attempts"),
                    body: try row.bytes("body")
                )
            }
            guard let tombstones else { return claims }
            return try claims.filter { claim in
                guard try !tombstones.erased(among: IDScanner.ids(in: claim.body), on: connection).isEmpty else {
                    return true
                }
                try end(claim, on: connection)
                return false
            }
        }
    }

    /// Removes a delivered notification, unless its lease has passed to another receiver.
    package func end(_ claim: Claim) async throws {
        try await transaction { try end(claim, on: $0) }
    }

    private func end(_ claim: Claim, on connection: borrowing PostgresConnection) throws {
        _ = try connection.run(
            .endForward,
            ["app": .integer(app.rawValue), "forward": .bigint(claim.id), "attempt": .integer(claim.attempt)]
        )
    }

    /// Postpones a notification that was not delivered, and with it the later ones of its customer.
    ///
    /// - Parameter reason: A short text without the URL.
    package func postpone(_ claim: Claim, by delay: Duration, because reason: String) async throws {
        try await transaction { connection in
            _ = try connection.run(
                .postponeForward,
                [
                    "app": .integer(app.rawValue), "forward": .bigint(claim.id), "attempt": .integer(claim.attempt),
                    "delay": .bigint(delay.wholeMilliseconds), "error": .text(reason),
                ]
            )
        }
    }

    /// Gives up the notifications whose term has ended, and deletes those that were given up long ago.
    ///
    /// - Returns: The number of notifications that were given up now, by URL without its query.
    /// - Throws: ``Postgres/PostgresError``.
    package func giveUpOld() async throws -> [String: Int] {
        var givenUp: [String: Int] = [:]
        while true {
            let destinations = try await transaction { connection in
                try connection.run(
                    .giveUpForwards,
                    [
                        "app": .integer(app.rawValue), "term": .bigint(Self.term.wholeMilliseconds),
                        "most": .bigint(Self.mostGivenUp),
                    ]
                ).map { try $0.text("destination") }
            }
            for destination in destinations { givenUp[destination, default: 0] += 1 }
            guard destinations.count == Self.mostGivenUp else { break }
        }
        try await transaction { connection in
            _ = try connection.run(
                "DELETE FROM forwards WHERE app_id = $1 AND given_up_at < now() - interval '\(Self.givenUpTerm)'",
                [.integer(app.rawValue)]
            )
        }
        return givenUp
    }

    /// What is left to forward, and what was given up.
    ///
    /// - Throws: ``Postgres/PostgresError``.
    package func counts() async throws -> [ForwardCounts] {
        try await transaction { try ForwardCounts.read(of: app, on: $0) }
    }

    private func transaction<R: Sendable>(
        of pool: PostgresPool? = nil,
        _ body: @Sendable (borrowing PostgresConnection) throws -> R
    ) async throws -> R {
        try await (pool ?? recording).withConnection { try $0.transaction { try body($0) } }
    }
}

extension Ledger {
    /// The queue of an app.
    ///
    /// - Parameters:
    ///   - claiming: Sessions for ``ForwardQueue/claim(for:atMost:)``, which waits while an erasure runs.
    ///   - recording: Sessions for outcomes and counts, which must not wait.
    package func forwards(of app: AppID, claiming: PostgresPool, recording: PostgresPool) -> ForwardQueue {
        ForwardQueue(app: app, claiming: claiming, recording: recording)
    }
}

import Basics
import Synchronization

/// Says who blocks the sessions of this process, while they wait for a lock.
///
/// It asks on a separate session, which it opens only while a use of another one takes long.
package final class LockWaitWatch: Sendable {
    /// How often it asks.
    ///
    /// A wait is reported when it is at most ``interval`` and ``patience`` old, which is less than ten seconds.
    private static let interval = Duration.seconds(4)
    /// How old a wait must be to be reported.
    private static let patience = Duration.seconds(3)
    /// The most sessions that are reported at once.
    private static let most = 3

    private struct State {
        /// Since when the sessions are in use, by the server's process.
        var uses: [Int32: ContinuousClock.Instant] = [:]
        var isAsking = false
    }

    private let conninfo: ConnectionString
    private let settings: SessionSettings
    private let report: @Sendable (String) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - conninfo: The server.
    ///   - settings: The parameters of all statements.
    ///   - report: Called with a clause, again and again while the wait goes on.
    package init(
        conninfo: ConnectionString,
        settings: SessionSettings,
        report: @escaping @Sendable (String) -> Void
    ) {
        self.conninfo = conninfo
        self.settings = settings
        self.report = report
    }

    /// A session is used from now on.
    func begin(_ process: Int32) {
        let isFirst = state.withLock { state in
            state.uses[process] = .now
            defer { state.isAsking = true }
            return !state.isAsking
        }
        if isFirst { Task { await ask() } }
    }

    func end(_ process: Int32) { state.withLock { state in state.uses[process] = nil } }

    /// Asks until no session is in use.
    private func ask() async {
        var session: PostgresSession?
        while true {
            try? await Task.sleep(for: Self.interval)
            let uses = state.withLock { state in
                state.isAsking = !state.uses.isEmpty
                return state.uses
            }
            guard let oldest = uses.values.min() else { return }
            guard ContinuousClock.now - oldest >= Self.patience else { continue }
            let own = session ?? PostgresSession(conninfo: conninfo, settings: settings)
            session = own
            let limit = Self.patience
            // Who blocks is a help only. The wait itself ends in its own way.
            let blocking = try? await own.withConnection(patience: limit) { connection in
                try BlockingSession.all(of: Array(uses.keys), for: limit, most: Self.most, on: connection)
            }
            for sentence in (blocking ?? []).map(\.description) { report(sentence) }
        }
    }
}

/// A session that another one waits for.
private struct BlockingSession: CustomStringConvertible {
    /// 0 for a prepared transaction.
    let processID: Int64
    /// What the other session waits for, such as a table.
    let what: String
    let seconds: Int64
    let user: String
    let application: String
    /// State, command and begin of the transaction, which the role may not see of every session.
    let state: String?
    let command: String?
    let since: String?

    var description: String {
        let wait = "for a lock on \(what) (\(Duration.seconds(seconds).inWords) so far), behind "
        guard processID != 0 else { return wait + "a prepared transaction (pg_prepared_xacts)" }
        let name = application.isEmpty ? "without a name" : "\"\(application)\""
        let details = [
            "user \(user)", "application \(name)", state, command.map { "last statement \($0)" },
            since.map { "in a transaction since \($0) UTC" },
        ]
        return wait + "process \(processID) (\(details.compactMap(\.self).joined(separator: ", ")))"
    }

    static func all(
        of processes: [Int32],
        for limit: Duration,
        most: Int,
        on connection: borrowing PostgresConnection
    ) throws -> [BlockingSession] {
        try connection.run(
            .blockingSessions,
            [
                "own": .text("{\(processes.map(String.init).joined(separator: ","))}"),
                "seconds": .bigint(limit.components.seconds),
                "most": .integer(Int32(most)),
            ]
        ).map { row in
            BlockingSession(
                processID: try row.int64("pid"),
                what: try row.text("what"),
                seconds: try row.int64("seconds"),
                user: try row.text("usename"),
                application: try row.text("application_name"),
                state: try row.textOrNil("state"),
                command: try row.textOrNil("command"),
                since: try row.textOrNil("since")
            )
        }
    }
}

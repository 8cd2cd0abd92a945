import Ledger
import Postgres
import TestSupport
import Testing

/// Plays two or three sessions against each other in every order their steps can have.
///
/// A session runs a real function of the ledger over separate connections. Triggers stop it at chosen statements: each
/// waits for an advisory lock that the referee has and releases when the session's turn comes. A session that only
/// reads stops at tables that the test makes and the referee locks in the same way. `pg_blocking_pids` says whether a
/// session stands at such a gate, waits for another session or is through.
struct Interleaving {
    /// A statement at which a session stops, such as `BEFORE INSERT ON transactions`.
    typealias Gate = String

    /// One side.
    struct Session {
        let name: String
        /// How often it meets a gate; it has a step more than that.
        let gates: Int
        /// Tables that are made for it to read, each once and in this order, and are its gates then; triggers stop no
        /// reader.
        var doors: [String] = []
        let run: @Sendable (_ ledger: Ledger) async throws -> Void
    }

    private let sessions: [Session]
    private let ledgers: [Ledger]
    private let referee: Referee
    /// By session.
    private let doorkeepers: [[Doorkeeper]]

    /// Sets up the gates in the test's database and connects the referee.
    init(in world: TestLedger, gates: [Gate], _ sessions: Session...) async throws {
        self.sessions = sessions
        let conninfo = try TemporaryDatabase.conninfo
        let joint = conninfo.contains("://") ? (conninfo.contains("?") ? "&" : "?") : " "
        ledgers = sessions.map { session in
            Ledger(
                conninfo: ConnectionString("\(conninfo)\(joint)application_name=step-\(session.name)"),
                schema: "appstore",
                sessions: 1
            )
        }
        referee = try Referee(conninfo: conninfo)
        doorkeepers = try sessions.map { try $0.doors.map { try Doorkeeper(of: $0, conninfo: conninfo) } }
        try await world.run(
            """
            CREATE FUNCTION step() RETURNS trigger LANGUAGE plpgsql AS $$
            DECLARE
                who  text := current_setting('application_name');
                gate integer := coalesce(nullif(current_setting('test.gate', true), ''), '0')::integer + 1;
            BEGIN
                IF who LIKE 'step-%' THEN
                    PERFORM set_config('test.gate', gate::text, true);
                    PERFORM pg_advisory_xact_lock_shared(hashtext(who), gate);
                END IF;
                RETURN NULL;
            END $$;
            \(sessions.flatMap(\.doors).map { "CREATE TABLE \($0) (app_id integer, door integer, PRIMARY KEY (app_id, door));" }.joined())
            \(gates.enumerated().map { "CREATE TRIGGER step_\($0.offset) \($0.element) FOR EACH STATEMENT EXECUTE FUNCTION step();" }.joined())
            """
        )
    }

    /// Plays every order; `prepare` comes before each and `check` after it.
    ///
    /// - Returns: How many there were.
    func playAll(
        prepare: () async throws -> Void,
        check: (_ order: String) async throws -> Void
    ) async throws -> Int {
        let orders = Self.orders(of: sessions.map { $0.gates + 1 })
        for order in orders {
            try await prepare()
            let name = order.map { sessions[$0].name }.joined(separator: " ")
            try await play(order, name)
            try await check(name)
        }
        return orders.count
    }

    private func play(_ order: [Int], _ name: String) async throws {
        for (session, doorkeepers) in zip(sessions, doorkeepers) {
            for doorkeeper in doorkeepers { try doorkeeper.close() }
            for gate in 1...max(1, session.gates) where doorkeepers.isEmpty {
                try referee.close(gate, of: session.name)
            }
        }
        let ends = sessions.map { _ in Promise<Result<Void, any Error>>() }
        var steps = sessions.map { _ in 0 }
        try await withThrowingTaskGroup(of: Void.self) { group in
            // After any error both sides are released; otherwise the group would wait forever.
            defer { openAll() }
            for next in order {
                if steps[next] == 0 {
                    let (session, ledger, end) = (sessions[next], ledgers[next], ends[next])
                    group.addTask {
                        let outcome: Result<Void, any Error>
                        do { outcome = .success(try await session.run(ledger)) } catch { outcome = .failure(error) }
                        end.fulfill { outcome }
                    }
                } else if doorkeepers[next].isEmpty {
                    try referee.open(steps[next], of: sessions[next].name)
                } else {
                    try doorkeepers[next][steps[next] - 1].open()
                }
                steps[next] += 1
                // Who waited for the one that has just moved may move now, too.
                for (place, session) in sessions.enumerated() where steps[place] > 0 {
                    try await referee.settle(session.name) { ends[place].isFulfilled }
                }
            }
        }
        for (session, end) in zip(sessions, ends) {
            if case .failure(let error) = await end.value { Issue.record("\(name): \(session.name) failed: \(error)") }
        }
    }

    private func openAll() {
        try? referee.openAll()
        for doorkeeper in doorkeepers.joined() { try? doorkeeper.open() }
    }

    /// Every order of the steps of both sides.
    static func orders(of steps: [Int]) -> [[Int]] {
        guard steps.contains(where: { $0 > 0 }) else { return [[]] }
        return steps.indices.filter { steps[$0] > 0 }.flatMap { first in
            var rest = steps
            rest[first] -= 1
            return orders(of: rest).map { [first] + $0 }
        }
    }
}

/// Has the gates' locks and sees which session stands where.
private final class Referee {
    private let connection: PostgresConnection
    private static let patience = 20.0

    init(conninfo: String) throws {
        connection = try PostgresConnection(conninfo: conninfo)
    }

    func close(_ gate: Int, of session: String) throws {
        try connection.run(
            "SELECT pg_advisory_lock(hashtext($1), $2)",
            [.text("step-\(session)"), .integer(Int32(gate))]
        )
    }

    func open(_ gate: Int, of session: String) throws {
        try connection.run(
            "SELECT pg_advisory_unlock(hashtext($1), $2)",
            [.text("step-\(session)"), .integer(Int32(gate))]
        )
    }

    func openAll() throws {
        try connection.script("SELECT pg_advisory_unlock_all()")
    }

    /// Returns when the session has ended, stands at a closed gate, or waits for another session.
    func settle(_ session: String, isOver: () -> Bool) async throws {
        let began = Self.seconds()
        while !isOver() {
            let rows = try connection.run(
                """
                SELECT FROM pg_stat_activity
                 WHERE datname = current_database() AND application_name = $1 AND cardinality(pg_blocking_pids(pid)) > 0
                """,
                [.text("step-\(session)")]
            )
            if rows.count > 0 { return }
            try #require(Self.seconds() - began < Self.patience, "\(session) neither moves nor waits")
            // Each question costs the server time that it needs for the sessions. No result depends on the pause.
            try await Task.sleep(for: .milliseconds(3))
        }
    }

    private static func seconds() -> Double {
        (ContinuousClock.now - start) / .seconds(1)
    }

    private static let start = ContinuousClock.now
}

/// Locks one table that a reader wants to read.
private final class Doorkeeper {
    private let connection: PostgresConnection
    private let door: String
    private var isClosed = false

    init(of door: String, conninfo: String) throws {
        self.door = door
        connection = try PostgresConnection(conninfo: conninfo)
    }

    func close() throws {
        try connection.script("BEGIN; LOCK TABLE appstore.\(door) IN ACCESS EXCLUSIVE MODE")
        isClosed = true
    }

    func open() throws {
        guard isClosed else { return }
        isClosed = false
        try connection.script("ROLLBACK")
    }
}

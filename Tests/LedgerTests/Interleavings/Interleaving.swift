import Glibc
import Ledger
import LedgerTables
import Postgres
import TestSupport
import Testing

/// Plays two or three sessions against each other in every order their steps can have.
///
/// A session runs a real function of the ledger over connections of its own. Triggers hold it at chosen statements: each
/// takes an advisory lock that the referee has and gives up when the session's turn comes. Whether a session stands at
/// such a gate, waits for another session or is through, PostgreSQL tells (`pg_blocking_pids`); nothing sleeps.
struct Interleaving {
    /// A statement a session is held at, such as `BEFORE INSERT ON transactions`.
    typealias Gate = String

    /// One side.
    struct Session {
        let name: String
        /// How often it meets a gate; it has a step more than that.
        let gates: Int
        let run: @Sendable (_ ledger: Ledger) async throws -> Void
    }

    private let sessions: [Session]
    private let ledgers: [Ledger]
    private let referee: Referee

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
        for session in sessions {
            for gate in 1...max(1, session.gates) { try referee.close(gate, of: session.name) }
        }
        let ends = sessions.map { _ in Promise<Result<Void, any Error>>() }
        var steps = sessions.map { _ in 0 }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for next in order {
                if steps[next] == 0 {
                    let (session, ledger, end) = (sessions[next], ledgers[next], ends[next])
                    group.addTask {
                        let outcome: Result<Void, any Error>
                        do { outcome = .success(try await session.run(ledger)) } catch { outcome = .failure(error) }
                        end.keep { outcome }
                    }
                } else {
                    try referee.open(steps[next], of: sessions[next].name)
                }
                steps[next] += 1
                // Who waited for the one that has just moved may move now, too.
                for (place, session) in sessions.enumerated() where steps[place] > 0 {
                    try await referee.settle(session.name) { ends[place].isKept }
                }
            }
            try referee.openAll()
            try await group.waitForAll()
        }
        for (session, end) in zip(sessions, ends) {
            if case .failure(let error) = await end.value { Issue.record("\(name): \(session.name) failed: \(error)") }
        }
    }

    /// Every order of so many steps of each side.
    static func orders(of steps: [Int]) -> [[Int]] {
        guard steps.contains(where: { $0 > 0 }) else { return [[]] }
        return steps.indices.filter { steps[$0] > 0 }.flatMap { first in
            var rest = steps
            rest[first] -= 1
            return orders(of: rest).map { [first] + $0 }
        }
    }
}

/// Holds the gates and sees who stands where.
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

    /// Returns once the session is through, stands at a closed gate, or waits for another session.
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
            await Task.yield()
        }
    }

    private static func seconds() -> Double {
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }
}

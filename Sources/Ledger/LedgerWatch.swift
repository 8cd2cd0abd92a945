package import AppStoreModel
import Basics
package import Postgres
import RateLimit
import Synchronization

/// What a process knows of its ledger: the version of the schema, and PostgreSQL's clock.
///
/// Both can change while a process works. So they are read again at the beginning of each transaction.
///
/// The transaction locks `schema_migrations` in ACCESS SHARE mode before it reads the version, and ``Migrator`` locks the table
/// exclusively before it changes anything. So the schema stays the same until the transaction ends.
package final class LedgerWatch: TransactionWatch {
    /// What happens when PostgreSQL's clock was set, by more than a minute.
    enum ClockRule: Sendable {
        case ignore
        /// Called with a sentence.
        case report(@Sendable (String) -> Void)
        /// This transaction and all later ones throw ``RateLimit/ClockDisagreement``.
        case end
    }

    /// Whether transactions of this task take PostgreSQL's clock as it is.
    @TaskLocal static var ignoresClock = false

    private struct State {
        /// `nil` until the schema was compared with the SQL files.
        var version: String?
        var clock = ClockWatch()
        /// The last reading of the clock; the second value is on `Timekeeper.monotonic`.
        var reading: (moment: UnixMilliseconds, at: Duration)?
        var clockRule = ClockRule.ignore
        /// The first time that the clock was set under ``ClockRule/end``.
        var end: ClockDisagreement?

        /// - Returns: What the reading shows of the clock, and what happens then; `nil` if it was not set.
        mutating func note(
            _ moment: UnixMilliseconds,
            asked: Duration,
            answered: Duration
        ) -> (ClockDisagreement, ClockRule)? {
            if reading.map({ $0.at < answered }) ?? true { reading = (moment, answered) }
            var step = clock.step(at: moment, asked: asked, answered: answered)
            if case .end = clockRule {
                end = end ?? step
                step = LedgerWatch.ignoresClock ? nil : end
            }
            return step.map { ($0, clockRule) }
        }
    }

    private let schema: String
    private let headers: SigningHeaders
    private let monotonic = Timekeeper.system.monotonic
    private let state = Mutex(State())

    init(schema: String, headers: SigningHeaders) {
        self.schema = schema
        self.headers = headers
    }

    /// The first statement of a transaction whose schema must not change.
    package static let schemaLock = "LOCK TABLE schema_migrations IN ACCESS SHARE MODE"

    /// PostgreSQL's clock, by its last reading; `nil` before the first.
    var now: UnixMilliseconds? {
        let now = monotonic()
        return state.withLock { $0.reading.map { $0.moment + (now - $0.at) } }
    }

    func setClockRule(_ rule: ClockRule) { state.withLock { $0.clockRule = rule } }

    /// From now on, a transaction throws ``LedgerError/schemaChanged(schema:)`` if the version is no longer the present one.
    ///
    /// - Parameter connection: Inside a transaction that has run ``schemaLock``.
    /// - Throws: ``Postgres/PostgresError``.
    package func remember(on connection: borrowing PostgresConnection) throws {
        let asked = monotonic()
        let row = try connection.run(.readVersion)[0]
        let version = try row.text("version")
        try note(UnixMilliseconds(rawValue: try row.timestamp("moment")), asked: asked)
        state.withLock { $0.version = version }
    }

    /// The schema is about to be changed by this process itself.
    package func forget() { state.withLock { $0.version = nil } }

    /// After a failover or a restore, a header can have another number.
    package func sessionOpened() { headers.forget() }

    package var lock: String? { state.withLock { $0.version != nil } ? Self.schemaLock : nil }

    package func meaning(of error: PostgresError) -> any Error {
        error.state == .undefinedTable ? LedgerError.schemaMissing(schema: schema) : error
    }

    package func check(on connection: borrowing PostgresConnection) throws {
        guard let version = state.withLock({ $0.version }) else { return }
        let asked = monotonic()
        let row = try connection.run(.readVersion)[0]
        guard try row.textOrNil("version") == version else { throw LedgerError.schemaChanged(schema: schema) }
        try note(UnixMilliseconds(rawValue: try row.timestamp("moment")), asked: asked)
    }

    private func note(_ moment: UnixMilliseconds, asked: Duration) throws {
        let answered = monotonic()
        guard let (step, rule) = state.withLock({ $0.note(moment, asked: asked, answered: answered) }) else { return }
        switch rule {
        case .ignore: break
        case .report(let report): report(step.sentence)
        case .end: throw step
        }
    }
}

extension Ledger {
    /// PostgreSQL's clock, which all machines share, as the last transaction of this process has read it.
    ///
    /// The ledger must be open.
    package var clock: UnixMilliseconds {
        guard let now = watch.now else { preconditionFailure("the ledger is not open") }
        return now
    }

    /// After PostgreSQL's clock was set by more than a minute, every transaction throws ``RateLimit/ClockDisagreement``, except
    /// in ``ignoringClock(_:)``.
    package func endWhenClockIsSet() { watch.setClockRule(.end) }

    /// Transactions of `body` take PostgreSQL's clock as it is.
    package func ignoringClock<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        try await LedgerWatch.$ignoresClock.withValue(true) { try await body() }
    }

    /// From now on, `report` is called after PostgreSQL's clock was set by more than a minute.
    package func reportWhenClockIsSet(_ report: @escaping @Sendable (String) -> Void) {
        watch.setClockRule(.report(report))
    }
}

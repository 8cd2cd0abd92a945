import FoundationEssentials
import Glibc
import Postgres
import TestSupport

/// One round: a simulated store that posts its notifications, receivers behind a proxy, and faults that hit them.
///
/// What Apple's side saw must agree with the ledger: every notification that was answered with success is stored once, and
/// after a run and a reconciliation everything that Apple sent is there.
struct ReceiverRound {
    let seed: UInt64
    let tools: RoundTools
    let database: String
    let store: SimulatedStore
    let proxy: ReceiverProxy
    let book: LedgerBook
    let job: String
    var random: SeededRandom
    var receivers: [(port: Int, worker: Worker)] = []
    /// All processes so far, for their output.
    var workers: [Worker] = []
    /// The erased customers, by the ID of their app transaction.
    var erased: Set<String> = []
    /// The processes that have erased them.
    var erasers: Set<String> = []
    /// How often each fault took effect.
    var hits: [ReceiverFault: Int] = [:]

    static let receiverCount = 3
    /// Faults of one round: each kind at least once.
    static let faults = 12
    /// Notifications that are sent before each fault.
    private static let notifications = 40
    private static let patience = Duration.seconds(120)

    // MARK: Processes

    private mutating func start(_ arguments: [String]) throws -> Worker {
        let name = "r\(workers.count + 1)"
        let url = tools.cluster.url(database: database, as: name, password: Round.password)
        let process = try ChildProcess(tools.storeledger, arguments, environment: ["DATABASE_URL": url])
        let worker = Worker(name: name, process: process, failpoint: nil)
        workers.append(worker)
        return worker
    }

    /// Starts a receiver on a port and waits until it accepts connections.
    private mutating func startReceiver(on port: Int) async throws -> Worker {
        let worker = try start(["receive", job, "--listen", "127.0.0.1:\(port)"])
        try await wait("a receiver on port \(port)") {
            if worker.process.hasEnded {
                throw BrokenInvariant(sentences: ["a receiver ended: \(worker.process.errors)"])
            }
            // Until it listens, the connection is refused.
            return (try? await LoopbackHTTP(port: port).get("/health"))?.status == 200
        }
        return worker
    }

    /// Waits until a condition is true.
    private func wait(_ what: String, until isTrue: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + Self.patience
        while try await !isTrue() {
            guard ContinuousClock.now < end else {
                throw BrokenInvariant(sentences: ["\(what): not after \(Self.patience)"])
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Runs a command to its end and returns its exit code with its output.
    private mutating func command(_ arguments: [String]) async throws -> (code: Int32, process: ChildProcess) {
        let worker = try start(arguments)
        guard let code = await worker.end(within: Self.patience) else {
            throw BrokenInvariant(sentences: ["\(arguments): not at its end after \(Self.patience)"])
        }
        return (code, worker.process)
    }

    // MARK: The round

    /// Runs the round until its end or the first violated promise.
    ///
    /// - Parameter limit: The most faults.
    /// - Returns: A sentence for each violated promise.
    mutating func broken(faults limit: Int) async -> [String] {
        do {
            try await play(faults: limit)
            return []
        } catch let promise as BrokenInvariant {
            return promise.sentences
        } catch {
            return ["the round ended with \(error)"]
        }
    }

    private mutating func play(faults limit: Int) async throws {
        // The listeners stay open until all ports are chosen, so that the ports differ.
        let ports = try (0..<Self.receiverCount).map { _ in try LoopbackListener() }.map(\.port)
        for port in ports { receivers.append((port, try await startReceiver(on: port))) }
        proxy.setBackends(ports)
        try await store.setDeliveryFaults(
            """
            {"rules": [{"fault": "loseAnswer", "everyNth": 7}, {"fault": "duplicate", "everyNth": 5}, {"fault": "drop", "everyNth": 11},
                       {"fault": "drop", "everyNth": 13, "attempts": 2, "result": "TIMED_OUT"}, {"fault": "reorder", "everyNth": 3, "by": 9}]}
            """
        )
        for fault in Self.plan(seed: seed).prefix(limit) {
            try await store.advance(changes: Self.notifications, from: Self.yesterday)
            try await Task.sleep(for: .milliseconds(Int.random(in: 20...400, using: &random)))
            try await inject(fault)
            hits[fault, default: 0] += 1
        }
        try await judge()
    }

    /// Every fault in turn, so that consecutive rounds have all of them equally often.
    private static func plan(seed: UInt64) -> [ReceiverFault] {
        var random = SeededRandom(seed: seed)
        let all = ReceiverFault.allCases
        let first = Int(seed % 1_000_000) * faults
        return (0..<faults).map { all[(first + $0) % all.count] }.shuffled(using: &random)
    }

    /// Noon of the last day that is over in UTC, in milliseconds since 1970.
    static var yesterday: Int64 {
        let day: Int64 = 86_400_000
        return (Int64(Date.now.timeIntervalSince1970 * 1_000) / day - 1) * day + day / 2
    }

    // MARK: Faults

    private mutating func inject(_ fault: ReceiverFault) async throws {
        let place = Int.random(in: receivers.indices, using: &random)
        switch fault {
        case .kill: try await replace([place], by: SIGKILL)
        case .killAll: try await replace(Array(receivers.indices), by: SIGKILL)
        case .terminate: try await replace([place], by: SIGTERM)
        case .pause:
            receivers[place].worker.process.signal(SIGSTOP)
            try await Task.sleep(for: .milliseconds(Int.random(in: 200...800, using: &random)))
            try await receivers[place].worker.process.resume()
        case .cutConnections: _ = proxy.cut()
        case .killBackend: try await killBackend()
        case .killPostmaster: try await tools.cluster.killPostmaster()
        case .stopPostgresAtOnce: try await tools.cluster.stopAtOnce()
        case .setClock: try await setClock()
        case .erase: try await erase { _ in }
        case .eraseAndKill:
            try await erase { round in try await round.replace(Array(round.receivers.indices), by: SIGKILL) }
        }
        for receiver in receivers where receiver.worker.process.hasEnded {
            let errors = receiver.worker.process.errors
            throw BrokenInvariant(sentences: ["a receiver ended after \(fault.rawValue): \(errors)"])
        }
    }

    /// Ends receivers with a signal and starts them again on their ports.
    private mutating func replace(_ places: [Int], by signal: Int32) async throws {
        for place in places { receivers[place].worker.process.signal(signal) }
        for place in places {
            let worker = receivers[place].worker
            let code = await worker.end(within: .seconds(signal == SIGTERM ? 10 : 60))
            let expected: Int32 = signal == SIGTERM ? 0 : 128 + signal
            guard code == expected else {
                let found = code.map { "ended with \($0)" } ?? "was still there after 10 s"
                throw BrokenInvariant(sentences: [
                    "a receiver \(found) after signal \(signal): \(worker.process.errors)"
                ])
            }
        }
        for place in places {
            receivers[place].worker = try await startReceiver(on: receivers[place].port)
        }
    }

    /// Sets PostgreSQL's clock for a moment, while Apple continues to send.
    private mutating func setClock() async throws {
        let seconds = [-3 * 86_400, -7_200, 7_200, 3 * 86_400].randomElement(using: &random) ?? 0
        try tools.cluster.setClock(by: seconds)
        try await store.advance(changes: Self.notifications, from: Self.yesterday)
        try await Task.sleep(for: .milliseconds(Int.random(in: 200...1_000, using: &random)))
        try tools.cluster.setClock(by: 0)
    }

    /// Erases a customer of whom the ledger has records, while Apple continues to send.
    private mutating func erase(beside body: (inout ReceiverRound) async throws -> Void) async throws {
        let known = try await patiently {
            try await book.column(
                "SELECT transaction_id || ' ' || (payload ->> 'appTransactionId') FROM transactions WHERE payload ? 'appTransactionId'"
            )
        }
        let left = known.map { $0.split(separator: " ").map(String.init) }.filter { !erased.contains($0[1]) }
        guard let victim = left.randomElement(using: &random) else { return }
        try await store.advance(changes: Self.notifications, from: Self.yesterday)
        let worker = try start(["erase", job, "--yes", "--transaction-id", victim[0]])
        erased.insert(victim[1])
        erasers.insert(worker.name)
        try await body(&self)
        guard await worker.end(within: Self.patience) == 0 else {
            throw BrokenInvariant(sentences: ["an erasure did not end with 0: \(worker.process.errors)"])
        }
    }

    private mutating func killBackend() async throws {
        let backends = try await patiently {
            try await book.column(
                "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'r%'"
            )
        }
        guard let victim = backends.randomElement(using: &random).flatMap({ Int($0) }) else { return }
        _ = try await tools.cluster.killBackend(process: victim)
    }

    /// Repeats a query when a fault of the database has closed the connection.
    private func patiently<Result>(_ body: () async throws -> Result) async throws -> Result {
        var attempt = 0
        while true {
            do {
                return try await body()
            } catch let error as PostgresError where error.isConnectionLoss && attempt < 50 {
                attempt += 1
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    // MARK: The promises

    private mutating func judge() async throws {
        try await wait("the end of Apple's attempts") {
            try await store.deliveries().allSatisfy { $0.nextAttemptDate == nil }
        }
        let pending = """
            SELECT count(*) FROM received_notifications WHERE normalised_at IS NULL AND refused_because IS NULL
            """
        try await wait("records of all received notifications") {
            try await patiently { try await book.count(pending) } == 0
        }
        for receiver in receivers { receiver.worker.process.signal(SIGTERM) }
        for receiver in receivers {
            guard await receiver.worker.end(within: .seconds(10)) == 0 else {
                throw BrokenInvariant(sentences: ["a receiver did not end with 0: \(receiver.worker.process.errors)"])
            }
        }
        let deliveries = try await store.deliveries()
        let customers = try StoreCustomers(world: try await store.world())
        let kept = deliveries.filter { delivery in
            !isErased(customers.customer("notification", delivery.notificationUUID))
        }
        try await judgeReceived(kept, of: deliveries, customers)
        try await judgeReconciled(kept, customers)
        try await judgeErased(customers)
    }

    private func isErased(_ customer: String?) -> Bool { customer.map(erased.contains) ?? false }

    /// No record and no notification names an erased customer, also after a run.
    private func judgeErased(_ customers: StoreCustomers) async throws {
        let ids = erased.flatMap { customers.transactionIDs[$0] ?? [] }.map { "'\($0)'" }.joined(separator: ",")
        guard !ids.isEmpty else { return }
        var broken: [String] = []
        for table in ["transactions", "refunds", "renewals", "notifications", "received_notifications"] {
            broken += try await book.column(
                "SELECT '\(table) has \(erased.count == 1 ? "the" : "an") erased customer: ' || original_transaction_id FROM \(table) WHERE original_transaction_id IN (\(ids))"
            )
        }
        try BrokenInvariant.check(broken)
    }

    /// Every notification that was answered with success is stored, verified, once, and in the records.
    ///
    /// - Parameters:
    ///   - deliveries: The deliveries about customers who are not erased.
    ///   - all: All deliveries.
    ///   - customers: The store's customers.
    /// - Throws: ``BrokenInvariant``.
    private func judgeReceived(
        _ deliveries: [SimulatedStore.Delivery],
        of all: [SimulatedStore.Delivery],
        _ customers: StoreCustomers
    ) async throws {
        let stored = Set(
            try await patiently {
                try await book.column(
                    """
                    SELECT r.notification_uuid FROM received_notifications r JOIN notifications n USING (app_id, notification_uuid)
                     WHERE r.refused_because IS NULL
                    """
                )
            }
        )
        let receipts = Dictionary(
            uniqueKeysWithValues: try await book.column(
                "SELECT notification_uuid || ' ' || receipts FROM received_notifications WHERE refused_because IS NULL"
            ).map { line in
                let parts = line.split(separator: " ")
                return (String(parts[0]), Int(parts[1]) ?? 0)
            }
        )
        var broken: [String] = []
        for delivery in deliveries where delivery.answered > 0 {
            let uuid = delivery.notificationUUID
            if !stored.contains(uuid) { broken.append("\(uuid) was answered with success and is not in the ledger") }
            let counted = receipts[uuid, default: 0]
            if counted < delivery.answered {
                broken.append("\(uuid) was answered \(delivery.answered) times and counted \(counted) times")
            }
        }
        let sent = Set(all.map(\.notificationUUID))
        broken += stored.subtracting(sent).map { "\($0) is in the ledger and was not sent" }
        let names = erasers.map { "'\($0)'" }.joined(separator: ",")
        let who = names.isEmpty ? "" : " WHERE who NOT IN (\(names))"
        // A notification that names an erased customer for the first time removes what was stored before.
        let kinds = [
            "transactions": "transaction", "refunds": "refund", "renewals": "renewal", "notifications": "notification",
        ]
        broken += try await book.column("SELECT what FROM audit.broken\(who)").filter { what in
            let words = what.split(separator: " ").map(String.init)
            return !isErased(customers.customer(kinds[words[0]] ?? "", words[1]))
        }.map { "a receiver changed a row: \($0)" }
        broken += try await book.column("SELECT reason || ' ' || detail FROM rejected_records")
            .map { "rejected: \($0)" }
        try BrokenInvariant.check(broken)
    }

    /// After a run and a reconciliation, everything that Apple sent is there, and nothing is unexplained.
    private mutating func judgeReconciled(
        _ deliveries: [SimulatedStore.Delivery],
        _ customers: StoreCustomers
    ) async throws {
        let run = try await command(["run", job, "--progress", "none"])
        guard run.code == 0 else {
            throw BrokenInvariant(sentences: ["the run ended with \(run.code): \(run.process.errors)"])
        }
        let result = try await command(["reconcile", job])
        var broken: [String] = []
        if result.code != 0 {
            broken.append("reconcile ended with \(result.code): \(result.process.output)\(result.process.errors)")
        }
        let sums = try await book.column(
            """
            SELECT concat_ws(' ', sum(in_history), sum(received_and_in_history), sum(recovered)) FROM notification_reconciliation
            """
        ).first
        let received = deliveries.count { $0.answered > 0 }
        let known = Set(try await book.column("SELECT notification_uuid FROM received_notifications"))
        let stored = deliveries.count { known.contains($0.notificationUUID) }
        let expected = "\(deliveries.count) \(stored) \(deliveries.count - stored)"
        if sums != expected {
            broken.append("reconciled (history, both, recovered): \(sums ?? ""), expected \(expected)")
        }
        if stored < received { broken.append("\(received) were answered, and \(stored) are stored") }
        broken += try await book.differences(from: store.world()).filter { !isErased(customers.customer(of: $0)) }
            .map { "after the run: \($0)" }
        try BrokenInvariant.check(broken)
    }
}

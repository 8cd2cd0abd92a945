import AppStoreSimulator
import ArgumentParser
import FoundationEssentials
import Glibc
import Ledger
import Postgres
import SignedData
import TestSupport

/// How many notifications a receiver stores and answers, how fast, and in how much memory.
struct ReceiveBenchmarkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receive",
        abstract: "How many notifications storeledger receive stores and answers, how fast, and in how much memory."
    )

    @OptionGroup var database: DatabaseOptions
    @Option(help: "The executable storeledger.")
    var storeledger: String
    @Option(help: "How many notifications are posted as fast as possible.")
    var notifications = 10_000
    @Option(help: "How many connections stay open.")
    var connections = 10_000

    @Flag(help: "Prints the figures as a JSON array of {figure, value, unit, spread}.")
    var json = false

    /// The rate to which the goal of 50 ms applies.
    private static let rate = 500.0
    private static let seconds = 10

    func run() async throws {
        try ReleaseBuild.require()
        Self.raiseOpenFiles()
        let authority = try SignedHistory.authority()
        let paced = Int(Self.rate) * Self.seconds
        Say.line("receive: signing \(notifications + 2 * paced) notifications")
        let posted = try PostedNotifications(notifications + 2 * paced, signedBy: authority).requests
        try await database.withDatabase { database in
            try await withTemporaryDirectory { directory in
                try Data(authority.root.der).write(to: URL(filePath: directory + "/root.cer"))
                try Data(Self.job.utf8).write(to: URL(filePath: directory + "/receiver.yaml"))
                let arguments = ["receive", directory + "/receiver.yaml"]
                let environment = ["DATABASE_URL": database.url]
                try await withChildProcess(storeledger, arguments, environment: environment) { process in
                    guard let line = await process.errorLine(with: "receiving notifications"),
                        let port = line.split(separator: ":").last?.prefix(while: \.isNumber), let port = Int(port)
                    else { throw NotReceiving(errors: process.errors) }
                    let figures = try await measure(posted, paced: paced, LoadGenerator(port: port), process, database)
                    print(try json ? Figure.json(of: figures) : Figure.text(of: figures))
                }
            }
        }
    }

    private func measure(
        _ posted: [[UInt8]],
        paced: Int,
        _ load: LoadGenerator,
        _ process: ChildProcess,
        _ database: BenchDatabase
    ) async throws -> [Figure] {
        var figures: [Figure] = []
        let fast = try await post(posted[..<notifications], load, connections: 128)
        figures.append(Figure("notifications stored and answered", [Double(notifications) / fast.seconds], "1/s"))
        figures.append(Figure("… answered, 99 of 100 within", [Self.percentile(0.99, fast.latencies)], "ms"))
        let normalizing = try await untilNormalized(database)
        let whole = fast.seconds + normalizing
        figures.append(Figure("… became records, in all", [Double(notifications) / whole], "1/s"))
        let slow = try await post(posted[notifications...].prefix(paced), load, connections: 64, rate: Self.rate)
        figures.append(Figure("at 500 a second, half within", [Self.percentile(0.5, slow.latencies)], "ms"))
        figures.append(Figure("at 500 a second, 99 of 100 within", [Self.percentile(0.99, slow.latencies)], "ms"))
        _ = try await untilNormalized(database)
        let before = Self.memory(of: process)
        let idle = load.openIdle(connections)
        defer { for socket in idle { _ = Glibc.close(socket) } }
        guard idle.count == connections else { throw TooFewConnections(count: idle.count) }
        figures.append(Figure("memory", [before], "MiB"))
        figures.append(Figure("memory with \(connections) open connections", [Self.memory(of: process)], "MiB"))
        _ = try await post(posted.suffix(paced), load, connections: 64, rate: Self.rate)
        _ = try await untilNormalized(database)
        figures.append(Figure("… after \(paced) more notifications", [Self.memory(of: process)], "MiB"))
        return figures
    }

    private func post(
        _ requests: ArraySlice<[UInt8]>,
        _ load: LoadGenerator,
        connections: Int,
        rate: Double? = nil
    ) async throws -> LoadGenerator.Outcome {
        let outcome = await load.post(requests, connections: connections, rate: rate)
        guard outcome.failures == 0, outcome.latencies.count == requests.count else {
            throw NotAnswered(failures: outcome.failures, answers: outcome.latencies.count)
        }
        return outcome
    }

    /// - Returns: Seconds until every stored notification is normalised.
    private func untilNormalized(_ database: BenchDatabase) async throws -> Double {
        let began = ContinuousClock.now
        while try await isPending(database) { try await Task.sleep(for: .milliseconds(50)) }
        let time = ContinuousClock.now - began
        return Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
    }

    private func isPending(_ database: BenchDatabase) async throws -> Bool {
        try await database.ledger.transaction { connection in
            try connection.run(
                """
                SELECT EXISTS (SELECT FROM received_notifications
                                WHERE normalised_at IS NULL AND refused_because IS NULL) AS more
                """
            )[0].bool("more")
        }
    }

    private static func percentile(_ part: Double, _ values: [Double]) -> Double {
        let sorted = values.sorted()
        return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]
    }

    /// The resident memory of the process in MiB.
    private static func memory(of process: ChildProcess) -> Double {
        // A file in /proc that cannot be read belongs to a process that has ended.
        let status = try? String(contentsOfFile: "/proc/\(process.processID)/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return (line.flatMap { Double($0.filter(\.isNumber)) } ?? 0) / 1_024
    }

    private static func raiseOpenFiles() {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    private static let job = """
        version: 1
        name: bench
        app: {bundleId: \(SimulatedPayloads.bundleId), appAppleId: \(SimulatedPayloads.appAppleId ?? 0), environment: Production}
        appStore: {baseURL: "http://127.0.0.1:9", trustedRoots: [root.cer]}
        receiver: {listen: "127.0.0.1:0"}
        output: {postgres: {url: "${DATABASE_URL}"}}

        """

    struct NotReceiving: Error { let errors: String }
    struct TooFewConnections: Error { let count: Int }
    struct NotAnswered: Error { let failures: Int, answers: Int }
}

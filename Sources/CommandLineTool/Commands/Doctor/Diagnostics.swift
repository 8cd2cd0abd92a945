import AppStoreModel
import Basics
import Crawl
import JobFiles
import Ledger
import Pipeline
import Streams
import Synchronization

/// Shows the checks of `doctor`, each with its finding or with its error as a sentence.
final class Diagnostics: Sendable {
    /// Apple's server, or the simulator's.
    private let server: String
    /// The path of the job file, for commands in findings.
    private let path: String
    private let firstFailure = Mutex<ExitStatus?>(nil)

    /// Shows the libraries at once, because every other check uses them.
    init(server: String, path: String) {
        self.server = server
        self.path = path
        show("libraries", LibraryVersions.sentence)
    }

    /// What a run ends with because of the first check that failed; `nil` if none did.
    var failure: ExitStatus? { firstFailure.withLock(\.self) }

    private func show(_ subject: String, _ finding: String, failure: ExitStatus? = nil) {
        let mark = failure == nil ? "ok   " : "FAIL "
        Console.result("\(mark) \(subject): \(namingJob(path, in: finding))")
        firstFailure.withLock { $0 = $0 ?? failure }
    }

    /// Shows the finding of `body`, or its error as a failed check.
    ///
    /// - Returns: Whether the check passed.
    @discardableResult
    func passes(
        _ subject: String,
        _ body: () async throws -> String
    ) async -> Bool {
        let result: Void? = await check(subject) { ((), try await body()) }
        return result != nil
    }

    /// Shows the finding of `body`, or its error as a failed check.
    ///
    /// - Returns: The value of `body`; `nil` if the check failed.
    func check<Value>(
        _ subject: String,
        _ body: () async throws -> (Value, String)
    ) async -> Value? {
        do {
            let (value, finding) = try await body()
            show(subject, finding)
            return value
        } catch let error as RequestFailure {
            let now = UnixMilliseconds(rawValue: Timekeeper.system.wallClock())
            // `doctor` sends one request, so the disposition is that after the last attempt.
            var history = AttemptHistory()
            history.attempts = .max
            var reason = StopReason.contractBroken(error.report)
            switch error.disposition(after: history, effects: .ofEveryStream, now: now) {
            case .stopRun(let found), .checkKey(let found): reason = found
            default: break
            }
            let stop = Failure(reason)
            let finding = remedy(of: error, reason).map { redacted("\(error.report.sentence) \($0)") } ?? stop.message
            show(subject, finding, failure: stop.status)
        } catch {
            let failure = Failure(error)
            show(subject, failure.message, failure: failure.status)
        }
        return nil
    }

    /// - Returns: `nil` if the check failed.
    func checkCredentials(of job: some RequestingJob) async -> Credentials? {
        await check("key and roots") { () throws -> (Credentials, String) in
            let credentials = try Credentials(job: job)
            let roots =
                job.appStore.trustedRoots.isEmpty
                ? "Apple Root CA - G3 is trusted" : "the job's own roots are trusted (rehearsal)"
            return (credentials, "key \(job.appStore.keyId) is readable; \(roots)")
        }
    }

    /// Warns about a key file whose name belongs to another key.
    func checkKeyFileName(of job: some RequestingJob) async {
        guard let path = job.appStore.privateKey.path,
            let warning = KeyFileName(path).warning(keyId: job.appStore.keyId)
        else { return }
        await passes("key file") { "warning: \(warning)" }
    }

    /// Checks the database, its schema and its clock.
    ///
    /// - Parameters:
    ///   - records: Checks what the ledger has of the job; called if the schema is up to date.
    ///   - moments: Throws ``MomentsAhead``; called with the clock if the schema is up to date.
    /// - Returns: The value of `records`; `nil` if it was not called.
    func checkLedger<Known>(
        _ ledger: Ledger,
        records: () async -> Known?,
        moments: () async throws -> Void = {}
    ) async -> Known? {
        let isConnected = await passes("database") {
            try await ledger.connect(within: min(.seconds(5), ledger.deadline))
            try await ledger.requirePrimary()
            return "connected"
        }
        guard isConnected else { return nil }
        let hasSchema = await passes("schema") {
            try await ledger.open()
            return "\"\(ledger.schema)\" is up to date"
        }
        let known = hasSchema ? await records() : nil
        await passes("clock") {
            let offset = try await ledger.now() - UnixMilliseconds(rawValue: Timekeeper.system.wallClock())
            let finding = try ClockIsOff.finding(offset, of: "PostgreSQL")
            if hasSchema { try await moments() }
            return finding
        }
        return known
    }

    /// The remedy where a run's remedy does not help, because it is to run `doctor`; `nil` where the run's remedy
    /// helps.
    private func remedy(of failure: RequestFailure, _ reason: StopReason) -> String? {
        switch (failure, reason) {
        case (.transport, _), (.tls, _):
            "This machine must reach \(server): check network, DNS, firewall and proxies"
        case (.answered(let answer), .contractBroken) where answer.status == 429:
            "Apple's limit is spent; it opens again within an hour"
        case (_, .contractBroken):
            "See Apple's system status page; without an outage there, another server may answer in Apple's place: check DNS and proxies"
        default: nil
        }
    }
}

import AppStoreModel
import Basics
import Crawl
import JobPlan
import Ledger

/// The result of one check of `doctor`.
package struct Diagnostic: Sendable {
    package let subject: String
    package let passed: Bool
    /// What the check found, and the remedy if it failed.
    package let finding: String
    /// The exit code of a run that fails for this reason.
    package let exitCode: Int32
}

/// The checks of `doctor`, each reported with its finding or with its error as a sentence.
struct Diagnostics {
    /// Apple's server, or the one of a rehearsal.
    private let server: String
    private let time: Timekeeper
    private let found: @Sendable (Diagnostic) -> Void

    /// Reports the libraries at once, because every other check uses them.
    init(server: String, time: Timekeeper, _ found: @escaping @Sendable (Diagnostic) -> Void) {
        self.server = server
        self.time = time
        self.found = found
        found(Diagnostic(subject: "libraries", passed: true, finding: LibraryVersions.sentence, exitCode: 0))
    }

    /// Reports the finding of `body`, or its error as a failed check.
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

    /// Reports the finding of `body`, or its error as a failed check.
    ///
    /// - Returns: The value of `body`; `nil` if the check failed.
    func check<Value>(
        _ subject: String,
        _ body: () async throws -> (Value, String)
    ) async -> Value? {
        do {
            let (value, finding) = try await body()
            found(Diagnostic(subject: subject, passed: true, finding: finding, exitCode: 0))
            return value
        } catch let error as RequestFailure {
            let now = UnixMilliseconds(rawValue: time.wallClock())
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
            found(Diagnostic(subject: subject, passed: false, finding: finding, exitCode: stop.status.rawValue))
        } catch {
            let failure = Failure(error)
            let code = failure.status.rawValue
            found(Diagnostic(subject: subject, passed: false, finding: failure.message, exitCode: code))
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
        guard let warning = KeyFileName(job.appStore.privateKeyFile).warning(keyId: job.appStore.keyId) else { return }
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
            let offset = try await ledger.now() - UnixMilliseconds(rawValue: time.wallClock())
            let finding = try ClockIsOff.finding(offset, of: "PostgreSQL")
            if hasSchema { try await moments() }
            return finding
        }
        return known
    }
}

extension Diagnostics {
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

import AppStoreAPI
import AppStoreModel
import Crawl
import HTTPTransport
import JobPlan
import Ledger
import Workers

/// One thing `doctor` looked at.
package struct CheckUp: Sendable, Codable {
    package let subject: String
    package let isWell: Bool
    /// What was found; when it is not well, also what to do.
    package let finding: String
    /// The exit code a run would end with for this.
    package let exitCode: Int32
    /// Whether it is well enough to run, and should be mended all the same.
    package var isWarning = false
}

extension ExportPipeline {
    /// Looks at everything a run needs, one thing after another; what depends on a failed one is left out.
    ///
    /// Sends Apple one request that costs one unit of one stream's limit.
    package func doctor(_ found: @escaping @Sendable (CheckUp) -> Void) async {
        found(CheckUp(subject: "libraries", isWell: true, finding: LibraryVersions.sentence, exitCode: 0))
        let credentials = await check("key and roots", found) { () throws -> (Credentials, String) in
            let credentials = try Credentials(job: job)
            return (
                credentials,
                "key \(job.appStore.keyId) reads; \(job.appStore.trustedRoots.isEmpty ? "Apple Root CA - G3 is trusted" : "the job's own roots are trusted (rehearsal)")"
            )
        }
        await check("ID list", found) {
            guard let count = try IDSource(job: job).count() else {
                if case .changedSince = job.transactionIds { return ((), "the app's notifications name the customers") }
                return ((), "IDs come from a query")
            }
            return ((), "\(count.isEstimate ? "about " : "")\(count.distinct) IDs, \(count.duplicates) duplicates")
        }
        let connected: Void? = await check("database", found) {
            try await ledger.connect(within: .seconds(5))
            return ((), "connected")
        }
        var hasSchema = false
        if connected != nil {
            hasSchema =
                await check("schema", found) {
                    try await Migrator(ledger: ledger, directory: try SQLDirectory.find()).check()
                    return (true, "\"\(job.output.postgres.schema)\" is up to date")
                } ?? false
            await check("clock", found) {
                let offset = try await ledger.now() - UnixMilliseconds(rawValue: time.wallClock())
                return ((), try Self.judge(offset, of: "PostgreSQL"))
            }
        }
        guard let credentials else { return }
        if hasSchema {
            let mayFill: Void? = await check("origin", found) {
                try await checkOrigins(credentials.rootFingerprints)
                return (
                    (),
                    rehearsalSentence(credentials.rootFingerprints)
                        ?? "records are Apple's, from \(job.appStore.baseURL)"
                )
            }
            // No run would send a request to this server, so its answer does not matter.
            guard mayFill != nil else { return }
        }
        await check("Apple", found) {
            let transport = try CurlTransport(job.transportConfiguration(width: 1))
            defer { transport.shutdown() }
            let time = time
            let client = AppStoreClient(
                transport: transport,
                baseURL: job.appStore.baseURL,
                tokens: credentials.tokens,
                clock: { UnixMilliseconds(rawValue: time.wallClock()) }
            )
            let now = UnixMilliseconds(rawValue: time.wallClock())
            let probe = AllStreams.types.lazy.compactMap { type in type.probe(at: now).map { (type.name, $0) } }.first
            guard let (stream, request) = probe else { throw LedgerError.invariant("no stream has a probe") }
            // Counted like any other request, where there is a ledger to count it.
            if hasSchema, let app = try await knownApp() {
                let grant: BudgetLedger.Grant = try await budget(of: app, scale: 1).take(stream, atMost: 1)
                guard grant.granted == 1 else {
                    return ((), "not asked: the job's share is spent or closed (\(grant.reason ?? ""))")
                }
            }
            let sent = UnixMilliseconds(rawValue: time.wallClock())
            let answer = try await client.answer(to: request)
            guard answer.status == 200 else { throw RequestFailure.answered(answer) }
            let clock =
                try answer.date.flatMap(HTTPDate.parse).map { try ", clock " + Self.judge($0 - sent, of: "Apple") }
                ?? ""
            return ((), "\(job.appStore.baseURL) accepts the key\(clock)")
        }
    }

    /// A token from a clock that is far off is refused; a lease would still hold, for its clock is the database's.
    private static func judge(_ offset: Duration, of whose: String) throws -> String {
        if let off = ClockIsOff(offset, of: whose) { throw off }
        return "within \(Int(abs(offset.inSeconds).rounded())) s of \(whose)'s"
    }

    @discardableResult
    private func check<Value>(
        _ subject: String,
        _ found: @Sendable (CheckUp) -> Void,
        _ look: () async throws -> (Value, String)
    ) async -> Value? {
        do {
            let (value, finding) = try await look()
            found(CheckUp(subject: subject, isWell: true, finding: finding, exitCode: 0))
            return value
        } catch let error as RequestFailure {
            let now = UnixMilliseconds(rawValue: time.wallClock())
            var history = AttemptHistory()
            history.tokenWasRenewed = true
            history.attempts = .max
            let stop: Failure =
                if case .stopRun(let reason) = error.disposition(after: history, effects: .ofEveryStream, now: now) {
                    Failure(reason)
                } else {
                    Failure(StopReason.contractBroken(error.report))
                }
            let finding =
                switch error {
                case .transport, .tls:
                    redacted(
                        "\(error.report). This machine has to reach \(job.appStore.baseURL): look at its network, DNS, "
                            + "firewall, and for a proxy in between"
                    )
                default: stop.message
                }
            found(CheckUp(subject: subject, isWell: false, finding: finding, exitCode: stop.status.rawValue))
        } catch {
            let failure = Failure(error)
            found(CheckUp(subject: subject, isWell: false, finding: failure.message, exitCode: failure.status.rawValue))
        }
        return nil
    }
}

/// This machine's clock differs too much from another one.
struct ClockIsOff: Error {
    let sentence: String

    /// Nothing up to a minute.
    ///
    /// - Parameters:
    ///   - offset: The other clock, minus this machine's.
    ///   - whose: The other clock's owner.
    init?(_ offset: Duration, of whose: String) {
        let seconds = Int(offset.inSeconds.rounded())
        guard abs(seconds) > 60 else { return nil }
        let side = seconds > 0 ? "behind" : "ahead of"
        sentence = "this machine's clock is \(abs(seconds)) s \(side) \(whose)'s; set the one that is wrong (NTP)"
    }
}

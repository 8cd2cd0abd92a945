import AppStoreAPI
import AppStoreModel
import Basics
import Crawl
import HTTPTransport
import JobPlan
import Ledger
import Planning
import RateLimit

/// The result of one check of `doctor`.
package struct Diagnostic: Sendable, Codable {
    package let subject: String
    package let isWell: Bool
    /// What the check found, and the remedy if it failed.
    package let finding: String
    /// The exit code of a run that fails for this reason.
    package let exitCode: Int32
}

extension Pipeline {
    /// Checks everything that a run needs, and skips checks that depend on a failed one.
    ///
    /// Sends one request to Apple, which costs one unit of one stream's limit.
    package func doctor(_ found: @escaping @Sendable (Diagnostic) -> Void) async {
        found(Diagnostic(subject: "libraries", isWell: true, finding: LibraryVersions.sentence, exitCode: 0))
        let credentials = await check("key and roots", found) { () throws -> (Credentials, String) in
            let credentials = try Credentials(job: job)
            return (
                credentials,
                "key \(job.appStore.keyId) is readable; \(job.appStore.trustedRoots.isEmpty ? "Apple Root CA - G3 is trusted" : "the job's own roots are trusted (rehearsal)")"
            )
        }
        await check("ID list", found) {
            guard let count = try IDSource(job: job).count() else {
                if case .changedSince = job.transactionIds { return ((), "IDs come from the app's notifications") }
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
                return ((), try Self.checked(offset, of: "PostgreSQL"))
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
            // A run would not send requests to this server, so the check of Apple is skipped.
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
            // The request is counted like any other if there is a ledger.
            if hasSchema, let app = try await knownApp() {
                let grant = try await budget(of: app, scale: 1).take(stream, atMost: 1)
                guard grant.granted == 1 else {
                    return ((), "not checked: the job's share is spent or closed (\(grant.refusal?.rawValue ?? ""))")
                }
            }
            let sent = UnixMilliseconds(rawValue: time.wallClock())
            let answer = try await client.answer(to: request)
            guard answer.status == 200 else { throw RequestFailure.answered(answer) }
            let clock =
                try answer.date.flatMap(HTTPDate.parse).map { try ", clock " + Self.checked($0 - sent, of: "Apple") }
                ?? ""
            return ((), "\(job.appStore.baseURL) accepts the key\(clock)")
        }
    }

    /// Fails if the clocks differ by more than a minute, because Apple rejects tokens from a wrong clock.
    ///
    /// Leases do not depend on this machine's clock.
    private static func checked(_ offset: Duration, of whose: String) throws -> String {
        if let off = ClockIsOff(offset, of: whose) { throw off }
        return "within \(Int(abs(offset.inSeconds).rounded())) s of \(whose)'s"
    }

    @discardableResult
    private func check<Value>(
        _ subject: String,
        _ found: @Sendable (Diagnostic) -> Void,
        _ look: () async throws -> (Value, String)
    ) async -> Value? {
        do {
            let (value, finding) = try await look()
            found(Diagnostic(subject: subject, isWell: true, finding: finding, exitCode: 0))
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
                        "\(error.report). This machine must reach \(job.appStore.baseURL): check network, DNS, "
                            + "firewall and proxies"
                    )
                default: stop.message
                }
            found(Diagnostic(subject: subject, isWell: false, finding: finding, exitCode: stop.status.rawValue))
        } catch {
            let failure = Failure(error)
            let code = failure.status.rawValue
            found(Diagnostic(subject: subject, isWell: false, finding: failure.message, exitCode: code))
        }
        return nil
    }
}

/// This machine's clock differs too much from another clock.
struct ClockIsOff: Error {
    let sentence: String

    /// Returns `nil` for a difference of up to a minute.
    ///
    /// - Parameters:
    ///   - offset: The other clock, minus this machine's.
    ///   - whose: The owner of the other clock, such as `Apple`.
    init?(_ offset: Duration, of whose: String) {
        let seconds = Int(offset.inSeconds.rounded())
        guard abs(seconds) > 60 else { return nil }
        let side = seconds > 0 ? "behind" : "ahead of"
        sentence = "this machine's clock is \(abs(seconds)) s \(side) \(whose)'s; set the one that is wrong (NTP)"
    }
}

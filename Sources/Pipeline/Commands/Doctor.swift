import AppStoreAPI
import AppStoreModel
import Basics
import Crawl
import HTTPTransport
import JobPlan
import Ledger
import LedgerSchema
import Normalize
import Planning
import Publish
import RateLimit

/// The result of one check of `doctor`.
package struct Diagnostic: Sendable {
    package let subject: String
    package let passed: Bool
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
        found(Diagnostic(subject: "libraries", passed: true, finding: LibraryVersions.sentence, exitCode: 0))
        let credentials = await check("key and roots", found) { () throws -> (Credentials, String) in
            let credentials = try Credentials(job: job)
            let roots =
                job.appStore.trustedRoots.isEmpty
                ? "Apple Root CA - G3 is trusted" : "the job's own roots are trusted (rehearsal)"
            return (credentials, "key \(job.appStore.keyId) is readable; \(roots)")
        }
        for list in job.idLists {
            if case .query = list.list { continue }
            await passes(Self.subject(of: list), found) {
                guard let count = try IDSource(list.list, of: list.kind).count() else { return "IDs come from a query" }
                return try Self.finding(count, of: list)
            }
        }
        for output in job.output.files {
            await passes("\(output.format.title) files", found) {
                try checkOutputDirectory(output.directory)
                return "\(output.directory) can be written"
            }
        }
        let isConnected = await passes("database", found) {
            try await ledger.connect(within: min(.seconds(5), ledger.deadline))
            try await ledger.requirePrimary()
            return "connected"
        }
        var hasSchema = false
        if isConnected {
            hasSchema = await passes("schema", found) {
                try await Migrator(ledger: ledger, directory: try SQLDirectory.find()).check()
                return "\"\(job.output.postgres.schema)\" is up to date"
            }
            if hasSchema {
                await passes("app", found) { try await compareWithLedger() }
                for list in job.idLists {
                    guard case .query(let sql) = list.list else { continue }
                    await passes(Self.subject(of: list), found) {
                        try Self.finding(try await ledger.countListed(by: sql, of: list.kind), of: list)
                    }
                }
            }
            let readsLedger = hasSchema
            await passes("clock", found) {
                let offset = try await ledger.now() - UnixMilliseconds(rawValue: time.wallClock())
                let finding = try Self.clockFinding(offset, of: "PostgreSQL")
                if readsLedger { try await refuseMomentsAhead() }
                return finding
            }
        }
        if case .changedSince = job.transactionIds {
            let readsLedger = hasSchema
            await passes("ID list", found) { try await customersFinding(readsLedger: readsLedger) }
        }
        guard let credentials else { return }
        if hasSchema {
            let originMatches = await passes("origin", found) {
                try await checkOrigins(credentials.rootFingerprints)
                return rehearsalSentence(credentials.rootFingerprints)
                    ?? "the job accepts records that Apple signed, from \(job.appStore.baseURL)"
            }
            // A run would not send requests to this server, so the check of Apple is skipped.
            guard originMatches else { return }
        }
        await passes("Apple", found) { try await probeApple(with: credentials, countsRequest: hasSchema) }
    }

    /// Where the customers of a job without a list come from, and whom this misses, as `status` says it.
    private func customersFinding(readsLedger: Bool) async throws -> String {
        let days = job.app.environment.notificationReach.components.seconds / 86_400
        let source = "no list: the customers come from the app's notifications, which Apple keeps for \(days) days; "
        if readsLedger, let app = try await knownApp(), try await ledger.hasCompleteList(of: app) {
            return source + "a run with a list has added the others"
        }
        return source + "to add customers without a notification, run a job with list, csv or query once"
    }

    /// Compares the job's app with the ledger.
    ///
    /// - Throws: ``Ledger/LedgerError/appMismatch(found:job:)``.
    private func compareWithLedger() async throws -> String {
        try await checkKnownApp()
        let name = "\(job.app.bundleId) in \(job.app.environment.rawValue)"
        if try await knownApp() != nil { return "\(name) agrees with the ledger" }
        let others = try await ledger.appsInUse().map { "\($0.bundleId) (\($0.environment))" }
        return others.isEmpty
            ? "\(name) is the first app of this ledger"
            : "\(name) is new in this ledger, which has \(others.joined(separator: ", ")). Correct app.bundleId and app.environment if the job is for one of these"
    }

    /// - Throws: ``MomentsAhead`` if the ledger has moments of the job after PostgreSQL's present time.
    private func refuseMomentsAhead() async throws {
        let windows = job.streams.names(with: .windows)
        guard let app = try await knownApp(),
            let ahead = try await ledger.latestMoment(of: job.name, app: app, windows: windows)
        else { return }
        throw MomentsAhead(by: ahead)
    }

    private static func subject(of list: NamedIDList) -> String {
        "ID list" + (list.stream.map { " of \($0.rawValue)" } ?? "")
    }

    /// - Throws: ``EmptyList`` for a list without an ID.
    private static func finding(_ count: IDCount, of list: NamedIDList) throws -> String {
        guard count.distinct > 0 else { throw EmptyList(list) }
        let nulls = count.nullSentence.map { "; \($0)" } ?? ""
        return "\(count.isEstimate ? "about " : "")\(count.distinct) IDs, \(count.duplicates) duplicates\(nulls)"
    }

    /// Sends Apple one request.
    ///
    /// - Parameters:
    ///   - credentials: The job's key.
    ///   - countsRequest: Whether the ledger's budget can count the request, like any other.
    /// - Returns: The finding.
    /// - Throws: ``AppStoreModel/RequestFailure``, ``ClockIsOff``, errors of the ledger.
    private func probeApple(with credentials: Credentials, countsRequest: Bool) async throws -> String {
        let transport = try CurlTransport(job.transportConfiguration(connections: 1))
        defer { transport.shutdown() }
        let time = time
        let client = AppStoreClient(
            transport: transport,
            baseURL: job.appStore.baseURL,
            tokens: credentials.tokens,
            clock: { UnixMilliseconds(rawValue: time.wallClock()) }
        )
        let now = UnixMilliseconds(rawValue: time.wallClock())
        let probes = AllStreams.types.lazy.compactMap { type in
            type.probe(at: now, in: job.app.environment).map { (type, $0) }
        }
        guard let (stream, request) = probes.first else { throw LedgerError.invariant("no stream has a probe") }
        if countsRequest, let app = try await knownApp() {
            let grant = try await budget(of: app, scale: 1).take(stream.name, atMost: 1)
            if let latest = grant.latest, let clock = grant.clock {
                throw ClockIsBehind(by: latest - clock)
            }
            guard grant.granted == 1 else {
                return "not checked: the job's share is spent or closed (\(grant.refusal?.rawValue ?? ""))"
            }
        }
        let sent = UnixMilliseconds(rawValue: time.wallClock())
        let page = try await client.page(request, decode: stream.page)
        let clock =
            try page.date.flatMap(HTTPDate.parse)
            .map { try ", clock " + Self.clockFinding($0 - sent, of: "Apple") } ?? ""
        let records = try compareWithApp(page, from: stream.name, at: now, credentials)
        return "\(job.appStore.baseURL) accepts the key\(clock); \(records)"
    }

    /// Verifies the records of a page, which are of another app if the job names the wrong one.
    ///
    /// - Returns: The finding.
    /// - Throws: ``NothingVerified`` if a run would load none of the records.
    private func compareWithApp(
        _ page: Page,
        from stream: StreamName,
        at now: UnixMilliseconds,
        _ credentials: Credentials
    ) throws -> String {
        let verifier = RecordVerifier(
            bundleId: job.app.bundleId,
            environment: job.app.environment,
            appAppleId: job.app.appAppleId,
            verifier: credentials.verifier
        )
        let verified = verifier.verify(page, from: stream, item: "", now: now)
        if verified.entries.isEmpty, let rejected = verified.rejected.first {
            throw NothingVerified(reason: rejected.reason, detail: rejected.detail)
        }
        guard !page.records.isEmpty else {
            return "Apple has no notification of the app that could confirm app.appAppleId"
        }
        return "\(verified.entries.count) of \(page.records.count) notifications verified"
    }

    /// How far the clocks differ.
    ///
    /// Leases do not depend on this machine's clock, but Apple rejects tokens from a wrong clock.
    ///
    /// - Throws: ``ClockIsOff`` if they differ by more than a minute.
    private static func clockFinding(_ offset: Duration, of whose: String) throws -> String {
        if let off = ClockIsOff(offset, of: whose) { throw off }
        return "within \(Int(abs(offset.inSeconds).rounded())) s of \(whose)'s"
    }

    /// Reports the finding of `body`, or its error as a failed check.
    ///
    /// - Returns: Whether the check passed.
    @discardableResult
    private func passes(
        _ subject: String,
        _ found: @Sendable (Diagnostic) -> Void,
        _ body: () async throws -> String
    ) async -> Bool {
        let result: Void? = await check(subject, found) { ((), try await body()) }
        return result != nil
    }

    /// Reports the finding of `body`, or its error as a failed check.
    ///
    /// - Returns: The value of `body`; `nil` if the check failed.
    private func check<Value>(
        _ subject: String,
        _ found: @Sendable (Diagnostic) -> Void,
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
            history.tokenWasRenewed = true
            history.attempts = .max
            var reason = StopReason.contractBroken(error.report)
            if case .stopRun(let found) = error.disposition(after: history, effects: .ofEveryStream, now: now) {
                reason = found
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
}

extension Pipeline {
    /// The remedy where that of a run does not help, because it is to run `doctor`; `nil` for the remedy of a run.
    private func remedy(of failure: RequestFailure, _ reason: StopReason) -> String? {
        switch (failure, reason) {
        case (.transport, _), (.tls, _):
            "This machine must reach \(job.appStore.baseURL): check network, DNS, firewall and proxies"
        case (.answered(let answer), .contractBroken) where answer.status == 429:
            "Apple's limit is spent; it opens again within an hour"
        case (_, .contractBroken):
            "See Apple's system status page; without an outage there, another server may answer in Apple's place: check DNS and proxies"
        default: nil
        }
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

/// PostgreSQL's clock has to reach the latest moment at which requests were granted.
struct ClockIsBehind: Error {
    let sentence: String

    init(by difference: Duration) {
        sentence =
            "not asked: PostgreSQL's clock is \(difference.inWords) behind the ledger's latest moment; nothing is granted until then"
    }
}

/// The ledger has moments of the job after PostgreSQL's present time, because its clock was ahead.
struct MomentsAhead: Error {
    let sentence: String

    init(by difference: Duration) {
        sentence =
            "the job has a run or a window up to \(difference.inWords) after PostgreSQL's present time, so the server's clock was ahead. Check that it is right now (NTP); the next run plans this time again"
    }
}

/// An ID list has no ID, so a run would request nothing for it and end with 2.
struct EmptyList: Error {
    let sentence: String

    init(_ list: NamedIDList) {
        sentence = "\(list.title) has no ID; check what writes the list. A run would end with 2"
    }
}

/// None of Apple's notifications can be verified as the app's, so a run would load none of them.
struct NothingVerified: Error {
    /// Why the first one is rejected; one of docs/reference/reject-reasons.md.
    let reason: String
    /// The same, as a sentence.
    let detail: String

    var sentence: String {
        let remedy =
            switch reason {
            case "environment":
                "Correct app.environment"
            case "bundle", "app_id", "no_identity":
                "Compare app in the job file with App Information in App Store Connect"
            default:
                "The answers are not as Apple signs them: check DNS and proxies between this machine and Apple, then for a newer version of storeledger"
            }
        return "a run would load none of the app's notifications: \(detail) \(remedy)"
    }
}

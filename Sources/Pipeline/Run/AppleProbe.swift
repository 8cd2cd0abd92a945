import AppStoreAPI
import AppStoreModel
package import Basics
import Crawl
import HTTPTransport
package import JobFiles
package import Ledger
package import LedgerSchema
import Normalize
import RateLimit
import SignedData
import Streams

/// One cheap request to Apple, which shows whether Apple accepts the key, and whether its records are the app's.
package struct AppleProbe {
    let job: any RequestingJob
    let ledger: Ledger
    let credentials: Credentials
    let time: Timekeeper

    package init(job: any RequestingJob, ledger: Ledger, credentials: Credentials, time: Timekeeper = .system) {
        self.job = job
        self.ledger = ledger
        self.credentials = credentials
        self.time = time
    }

    /// Sends the request.
    ///
    /// - Parameter app: The app whose budget in the ledger counts the request; `nil` if the ledger cannot count it.
    /// - Returns: What Apple answered, as a sentence.
    /// - Throws: ``AppStoreModel/RequestFailure``, ``Crawl/StopReason/credentials(_:)`` if Apple refuses the key,
    ///   ``ClockIsOff``, errors of the ledger.
    package func finding(countingFor app: AppID?) async throws -> String {
        let answer: Answer
        do {
            answer = try await send(countingFor: app)
        } catch StopReason.credentials(let report) {
            throw StopReason.credentials(await explaining(report, countingFor: app))
        }
        switch answer {
        case .notSent(let refusal):
            return "not checked: the job's share is spent or closed (\(refusal?.rawValue ?? ""))"
        case .page(let page, let stream, let sent):
            let clock =
                try page.date.flatMap(HTTPDate.parse)
                .map { try ", clock " + ClockIsOff.finding($0 - sent, of: "Apple") } ?? ""
            let records = try compareWithApp(page, from: stream, at: sent)
            return "\(job.appStore.baseURL) accepts the key\(clock); \(records)"
        }
    }

    /// Whether Apple answers the request with a page.
    ///
    /// - Parameter app: The app whose budget in the ledger counts the request.
    /// - Returns: `false` if the job's share is spent.
    /// - Throws: As ``finding(countingFor:)``.
    func isAnswered(countingFor app: AppID) async throws -> Bool {
        if case .page = try await send(countingFor: app) { true } else { false }
    }

    private enum Answer {
        /// `sent` is on this machine's clock.
        case page(Page, StreamName, sent: UnixMilliseconds)
        case notSent(RateGrant.Refusal?)
    }

    private func send(countingFor app: AppID?) async throws -> Answer {
        let transport = try CurlTransport(job.transportConfiguration(connections: 1))
        defer { transport.shutdown() }
        let client = AppStoreClient(
            transport: transport,
            baseURL: job.appStore.requestURL,
            tokens: credentials.tokens,
            time: time
        )
        let patience = KeyPatience(window: RateWindow(length: .seconds(job.limits.windowSeconds)))
        var refusals = 0
        while true {
            do {
                return try await send(with: client, countingFor: app)
            } catch RequestFailure.answered(let answer) where answer.status == 401 {
                refusals += 1
                let now = UnixMilliseconds(rawValue: time.wallClock())
                switch patience.decision(on: answer, refusals: refusals, now: now) {
                case .repeats: try await time.sleep(KeyPatience.pause(afterRefusal: refusals, random: time.random()))
                case .leavesRequest(let report), .endsRun(let report): throw StopReason.credentials(report)
                }
            }
        }
    }

    private func send(with client: AppStoreClient, countingFor app: AppID?) async throws -> Answer {
        let sent = UnixMilliseconds(rawValue: time.wallClock())
        let probes = AllStreams.types.lazy.compactMap { type in
            type.probe(at: sent, in: job.app.environment).map { (type, $0) }
        }
        guard let (stream, request) = probes.first else { throw LedgerError.invariant("no stream has a probe") }
        if let app {
            let grant = try await budget(of: app, for: stream.name).take(stream.name, atMost: 1)
            if let latest = grant.latest, let clock = grant.clock { throw ClockIsBehind(by: latest - clock) }
            guard grant.granted == 1 else { return .notSent(grant.refusal) }
        }
        return .page(try await client.page(request, decode: stream.page), stream.name, sent: sent)
    }

    /// Whether Apple accepts a token of another signer, or in another environment.
    ///
    /// - Parameters:
    ///   - baseURL: The server; the job's if `nil`.
    ///   - app: The app whose budget in the ledger counts the request.
    /// - Returns: `false` also if the request could not be sent or has no answer.
    func accepts(_ tokens: BearerTokenSigner, at baseURL: String? = nil, countingFor app: AppID?) async -> Bool {
        do {
            let transport = try CurlTransport(job.transportConfiguration(connections: 1))
            defer { transport.shutdown() }
            let client = AppStoreClient(
                transport: transport,
                baseURL: baseURL ?? job.appStore.requestURL,
                tokens: { tokens },
                time: time
            )
            if case .page = try await send(with: client, countingFor: app) { return true }
            return false
        } catch RequestFailure.answered(let answer) {
            return answer.status != 401 && answer.errorCode != nil
        } catch {
            return false
        }
    }

    private func budget(of app: AppID, for stream: StreamName) -> PostgresRateLedger {
        let share = PostgresRateLedger.Share(
            requestsPerSecond: job.limits.allowedRate(of: stream, in: job.app.environment),
            window: RateWindow(length: .seconds(job.limits.windowSeconds))
        )
        return PostgresRateLedger(pool: ledger.control, app: app, shares: [stream: share])
    }

    /// Verifies the records of a page, which are of another app if the job names the wrong one.
    ///
    /// - Throws: ``NothingVerified`` if a run would load none of the records.
    private func compareWithApp(_ page: Page, from stream: StreamName, at now: UnixMilliseconds) throws -> String {
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
            return "Apple has no notification of the app that could confirm app.bundleId and app.appAppleId"
        }
        return "\(verified.entries.count) of \(page.records.count) notifications verified"
    }
}

/// None of Apple's notifications can be verified as the app's, so a run would load none of them.
struct NothingVerified: ExplainedError {
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

    var status: ExitStatus { .contractBroken }
}

import AppStoreModel
package import Basics
package import FoundationEssentials
import HTTPTransport
package import JobFiles
package import Ledger

extension ExitStatus {
    /// How `notify` calls this ending; `nil` for 75, because the next start continues.
    package var ending: Webhook.Ending? {
        switch self {
        case .complete: .success
        case .workLeft: nil
        default: .failure
        }
    }
}

/// The document that a job's webhook receives after a run; documented in `docs/reference/json.md` and stable.
///
/// It contains neither a secret nor a customer's ID: the message depends only on the exit code.
package struct RunNotification: WebhookDocument {
    let job: String
    let app: String
    let environment: String
    let host: String
    let run: Int64?
    let outcome: String
    package let exitCode: Int32
    package let message: String
    let startedAt: String
    let endedAt: String
    let counts: RunCountsJSON?
    let viewsAreOld: Bool

    /// - Parameters:
    ///   - status: How the process ended.
    ///   - run: The run; `nil` if the process ended before it had started or joined one.
    ///   - summary: The counts of the run; `nil` if they are unknown.
    ///   - viewsAreOld: Whether the run could not refresh the views. The reason is not sent, because it can quote the database.
    ///   - startedAt: When the process started, by this machine's clock.
    ///   - endedAt: When the process ended, by this machine's clock.
    package init(
        job: JobFile,
        status: ExitStatus,
        run: Int64?,
        summary: RunSummary?,
        viewsAreOld: Bool,
        startedAt: Date,
        endedAt: Date
    ) {
        self.job = job.name
        app = job.app.bundleId
        environment = job.app.environment.rawValue
        host = ProcessInfo.processInfo.hostName
        self.run = run
        outcome = (status.ending ?? .failure).rawValue
        exitCode = status.rawValue
        message = status.meaning
        self.viewsAreOld = viewsAreOld
        self.startedAt = startedAt.ISO8601Format()
        self.endedAt = endedAt.ISO8601Format()
        counts = summary.map(RunCountsJSON.init)
    }
}

extension Pipeline {
    /// The timeouts of one attempt; a run that has ended must not wait for a webhook for long.
    private static let webhookConnectTimeout = Duration.seconds(5)
    private static let webhookTimeout = Duration.seconds(10)

    /// Sends a notification, again after a failure that can pass, within 30 s.
    ///
    /// - Returns: A message if it was not delivered; the message does not contain the URL.
    package func send(_ notification: some WebhookDocument, to webhook: Webhook) async -> String? {
        let url = webhook.url
        // libcurl would write the keys of the connection to that file, and the URL often contains a token.
        guard url.isLoopback || ProcessInfo.processInfo.environment["SSLKEYLOGFILE"] == nil else {
            return "notify: not sent, because SSLKEYLOGFILE is set"
        }
        var configuration = TransportConfiguration()
        configuration.connectTimeout = Self.webhookConnectTimeout
        configuration.totalTimeout = Self.webhookTimeout
        configuration.allowsPlainHTTP = url.isLoopback
        configuration.maximumConnections = 1
        do {
            let body = try notification.body(in: webhook.format)
            let transport = try CurlTransport(configuration)
            defer { transport.shutdown() }
            return await WebhookDelivery(webhook: webhook, transport: transport, time: time).deliver(body)
        } catch {
            return "notify: not delivered"
        }
    }

    /// The counts of a run of the job.
    ///
    /// - Parameter limit: How long to wait for PostgreSQL.
    /// - Returns: `nil` if the ledger does not know the app.
    package func summary(of run: Int64, within limit: Duration) async throws -> RunSummary? {
        try await ledger.connect(within: limit)
        guard let app = try await knownApp() else { return nil }
        return try await ledger.summary(of: run, app: app, job: job.name)
    }
}

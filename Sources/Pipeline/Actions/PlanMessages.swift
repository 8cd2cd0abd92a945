import Actions
import AppStoreModel
import Basics
import HTTPTransport
import JobFiles
import RateLimit

extension ActionPipeline {
    /// Plans a batch of a folder with retention messages, and compares it with what Apple has.
    func planMessages(in path: String) async throws -> BatchSummary {
        let folder = try RetentionFolder(path: path)
        return try await asking { reader, actions in
            let catalog = try await reader.catalog(for: folder)
            let batch = try await actions.plan(BatchSource(folder, comparedWith: catalog))
            var summary = try await actions.summary(of: batch)
            summary.remarks = try await actions.remarks(on: batch, folder, catalog)
            return summary
        }
    }

    /// Plans a change of the real-time URL, and says which one Apple has.
    func planRealtimeURL() async throws -> BatchSummary {
        let source = try BatchSource(job.input)
        return try await asking { reader, actions in
            let url = try await reader.realtimeURL()
            var summary = try await actions.summary(of: try await actions.plan(source))
            summary.remarks = [url.map { "Apple has the real-time URL \($0)" } ?? "Apple has no real-time URL"]
            return summary
        }
    }

    /// Plans with what Apple has of retention messages.
    ///
    /// The requests are within the limits of the job, and change nothing.
    private func asking(
        _ plan: (RetentionCatalogReader, ActionLedger) async throws -> BatchSummary
    ) async throws -> BatchSummary {
        let credentials = try Credentials(job: job)
        let actions = try await actions(trusting: credentials.rootFingerprints)
        let transport = try CurlTransport(job.transportConfiguration(connections: 1))
        defer { transport.shutdown() }
        let window = RateWindow(length: .seconds(job.limits.windowSeconds))
        let reader = RetentionCatalogReader(
            server: server(over: transport, credentials),
            limiters: limiters(of: actions, window: window) { _ in },
            time: time
        )
        return try await plan(reader, actions)
    }
}

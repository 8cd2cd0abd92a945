import Actions
import AppStoreModel
import Basics
import HTTPTransport
import JobFiles
import RateLimit

extension ActionPipeline {
    /// Plans a batch of a folder with retention messages.
    ///
    /// Asks Apple what it has, within the limits of the job, and sends nothing that changes something.
    func planMessages(in path: String) async throws -> BatchSummary {
        let folder = try RetentionFolder(path: path)
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
        let catalog = try await reader.catalog(for: folder)
        let batch = try await actions.plan(BatchSource(folder, comparedWith: catalog))
        var summary = try await actions.summary(of: batch)
        summary.remarks = try await actions.remarks(on: batch, folder, catalog)
        return summary
    }
}

import FoundationEssentials
package import JobPlan
import Publish
import SignedData
package import Signing

/// Signs files of requests that an app passes to StoreKit, with the key of one job; offline.
///
///     read ─► check ─► sign ─► publish
package struct SigningPipeline: Sendable {
    package let job: SignerJob

    package init(job: SignerJob) {
        self.job = job
    }

    /// Signs the file `input` on all processors, and publishes the file `output` with mode 0600.
    ///
    /// - Returns: The number of signatures.
    /// - Throws: Errors that ``Failure/init(_:)`` explains. An existing `output` is then unchanged.
    package func sign(_ kind: SignatureKind, input: String, output: String) async throws -> Int {
        let key = RequestKey(
            key: try SigningKey.load(file: job.appStore.privateKeyFile),
            keyId: job.appStore.keyId,
            issuerId: job.appStore.issuerId,
            bundleId: job.app.bundleId
        )
        let signing = RequestSigning(kind, key: key, width: ProcessInfo.processInfo.activeProcessorCount)
        return try await publishParts(at: output) { write in
            try await signing.sign(input, write: write)
        }
    }
}

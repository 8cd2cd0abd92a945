package import AppStoreModel
package import Streams

/// A job file that was read and checked, with every default filled in.
///
/// Paths are absolute. Relative paths in the file start at the directory of the job file.
package struct JobFile: Equatable, Sendable {
    package struct App: Equatable, Sendable {
        package let bundleId: String
        /// Never `nil` in Production.
        package let appAppleId: Int64?
        package let environment: AppStoreEnvironment
    }

    package struct AppStore: Equatable, Sendable {
        /// A UUID in the notation of App Store Connect.
        package let issuerId: String
        package let keyId: String
        package let privateKey: PrivateKeySource
        /// Scheme, host and port without a trailing slash: Apple's host for the environment, or a loopback address.
        ///
        /// It says where records come from, so it is ``AppStoreModel/AppStoreEnvironment/baseURL`` for both of Apple's hosts.
        package let baseURL: String
        /// The address that requests go to: ``baseURL``, or Apple's earlier host.
        package let requestURL: String
        /// Whether ``baseURL`` is a loopback address, such as the simulator's, and not Apple's.
        package let isLoopback: Bool
        /// Certificate files that replace the built-in Apple root; empty unless ``isLoopback``.
        package let trustedRoots: [String]
        /// Whether an ID that Production does not know (4040010) is tried once in Sandbox; never in a Sandbox job.
        package let triesSandbox: Bool

        /// The files that the section names, each after its key.
        var inputs: [(String, String)] {
            [privateKey.path].compactMap { $0.map { ("appStore.privateKeyFile", $0) } }
                + trustedRoots.map { ("appStore.trustedRoots", $0) }
        }
    }

    package struct Output: Equatable, Sendable {
        package let postgres: PostgresOutput
        /// At most one for each format, in the order of ``FileFormat/allCases``.
        package let files: [FileOutput]

        /// The files in a format; `nil` if the job publishes none.
        package func files(in format: FileFormat) -> FileOutput? { files.first { $0.format == format } }
    }

    /// The job file's path as the caller gave it.
    package let path: String
    /// Always 1.
    package let version: Int
    /// `[a-z0-9][a-z0-9-]{0,62}`.
    ///
    /// Progress is stored per app and job name.
    package let name: String
    package let app: App
    package let appStore: AppStore
    /// `nil` only when no stream makes requests by transaction ID.
    package let transactionIds: TransactionIDSource?
    package let streams: JobStreams
    package let limits: JobLimits
    package let output: Output
    /// Where the ends of runs are reported; `nil` if the job names no URL.
    package let notify: Webhook?
    /// What is removed at the end of a complete run; without terms nothing is.
    package let retention: Retention
    /// Where `receive` takes notifications; `nil` if the job has no such section.
    package let receiver: ReceiverSettings?
    /// Warnings about settings that are allowed but not advisable, one sentence each.
    ///
    /// They are shown once at the start.
    package let warnings: [String]
}

extension JobFile: RequestingJob {
    package var postgres: PostgresOutput { output.postgres }
}

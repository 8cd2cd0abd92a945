package import AppStoreModel

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
        package let privateKeyFile: String
        /// Scheme, host and port without a trailing slash: Apple's host for the environment, or a loopback address.
        ///
        /// It says where records come from, so it is ``AppStoreModel/AppStoreEnvironment/baseURL`` for both of Apple's hosts.
        package let baseURL: String
        /// The address that requests go to: ``baseURL``, or Apple's earlier host.
        package let requestURL: String
        /// Whether ``baseURL`` is a loopback address, so that the job is a rehearsal.
        package let isLoopback: Bool
        /// Certificate files that replace the built-in Apple root; empty unless ``isLoopback``.
        package let trustedRoots: [String]
        /// Whether an ID that Production does not know (4040010) is tried once in Sandbox; never in a Sandbox job.
        package let triesSandbox: Bool
    }

    /// The streams of the job, at least one, in the order of the registry.
    package struct Streams: Equatable, Sendable {
        package let all: [any AppStoreStream]

        package var names: [StreamName] { all.map(\.name) }

        /// The section of one stream; `nil` when the job does not name it.
        package subscript(name: StreamName) -> (any AppStoreStream)? { all.first { $0.name == name } }

        /// The section of one stream; `nil` when the job does not name it.
        package subscript<Stream: AppStoreStream>(type: Stream.Type) -> Stream? {
            all.lazy.compactMap { $0 as? Stream }.first
        }

        /// The streams whose items come from `source`.
        package func names(with source: ItemSource) -> [StreamName] {
            all.filter { $0.items == source }.map(\.name)
        }

        package static func == (left: Streams, right: Streams) -> Bool {
            left.all.count == right.all.count && zip(left.all, right.all).allSatisfy { $0.isEqual(to: $1) }
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
    package let streams: Streams
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

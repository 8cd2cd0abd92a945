package import AppStoreModel
import Streams

/// The rate and concurrency limits of a job.
package struct JobLimits: Equatable, Sendable {
    /// The number of concurrent items, 1 to 256.
    package let concurrency: Int
    /// The part of Apple's limit that this job may use, more than 0 and at most 1.
    package let share: Double
    /// Apple's limit for every stream, before ``share`` is applied.
    package let requestsPerSecond: [StreamName: Double]
    /// The length of the limiter's rolling window in seconds: 3600, and less only against a server on loopback.
    package let windowSeconds: Int

    /// The rate that the job may use for one stream, in requests per second.
    package func allowedRate(of stream: StreamName, in environment: AppStoreEnvironment) -> Double {
        (requestsPerSecond[stream] ?? AllStreams.requestsPerSecond(of: stream, in: environment)) * share
    }
}

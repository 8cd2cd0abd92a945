package import AppStoreModel

/// How fast a job may go.
package struct JobLimits: Equatable, Sendable {
    /// Items under way at the same time, 1 to 256.
    package let concurrency: Int
    /// The part of Apple's limit this job may use, more than 0 and at most 1.
    package let share: Double
    /// Apple's limit for each stream, before ``share`` is applied; every stream is in it.
    package let requestsPerSecond: [StreamName: Double]
    /// How long the limiter's rolling window is; 3600 except in rehearsals.
    package let windowSeconds: Int

    /// What the job may send on one stream, in requests per second.
    package func allowedRate(of stream: StreamName, in environment: AppStoreEnvironment) -> Double {
        (requestsPerSecond[stream] ?? AllStreams.requestsPerSecond(of: stream, in: environment)) * share
    }
}

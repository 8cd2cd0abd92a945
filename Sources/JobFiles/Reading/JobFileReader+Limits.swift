import AppStoreModel
import JobSyntax
import Streams

extension JobFileReader {
    /// Reads the job's limits.
    ///
    /// - Parameters:
    ///   - file: The whole file.
    ///   - isLoopback: Whether the job uses a server on this machine instead of Apple's.
    ///   - endpoints: The endpoints whose limits the job can set, with Apple's limits; `nil` for all streams.
    /// - Returns: The limits, with defaults for missing and invalid keys.
    func limits(
        _ file: Section,
        _ environment: AppStoreEnvironment,
        isLoopback: Bool,
        endpoints: [(StreamName, Double)]? = nil
    ) -> JobLimits {
        let keys = ["concurrency", "share", "requestsPerSecond", "windowSeconds"]
        let section = file.section("limits", keys: keys)
        let windowSeconds = section?.integer("windowSeconds", in: 10...3_600) ?? 3_600
        if windowSeconds != 3_600, !isLoopback {
            section?.report(
                "windowSeconds",
                "Apple counts by the hour, so only a loopback baseURL may have less than 3600"
            )
        }
        return JobLimits(
            concurrency: Int(section?.integer("concurrency", in: 1...256) ?? 32),
            share: section?.number("share", upTo: 1) ?? 0.5,
            requestsPerSecond: requestsPerSecond(
                section,
                endpoints ?? AllStreams.types.map { ($0.name, $0.requestsPerSecond(in: environment)) }
            ),
            windowSeconds: Int(windowSeconds)
        )
    }

    private func requestsPerSecond(_ limits: Section?, _ endpoints: [(StreamName, Double)]) -> [StreamName: Double] {
        let section = limits?.section("requestsPerSecond", keys: endpoints.map(\.0.rawValue))
        let rates = endpoints.map { name, appleLimit in
            (name, section?.number(name.rawValue, upTo: 1_000_000) ?? appleLimit)
        }
        return Dictionary(uniqueKeysWithValues: rates)
    }
}

import AppStoreModel

extension JobFileReader {
    /// Reads the job's limits.
    ///
    /// - Parameters:
    ///   - file: The whole file.
    ///   - environment: The job's environment.
    ///   - isRehearsal: Whether the job uses a server on this machine instead of Apple's.
    /// - Returns: The limits, with defaults for missing and invalid keys.
    func limits(_ file: Section, _ environment: AppStoreEnvironment, isRehearsal: Bool) -> JobLimits {
        let keys = ["concurrency", "share", "requestsPerSecond", "windowSeconds"]
        let section = file.section("limits", keys: keys)
        let windowSeconds = section?.integer("windowSeconds", in: 10...3_600) ?? 3_600
        if windowSeconds != 3_600, !isRehearsal {
            section?.report(
                "windowSeconds",
                "Apple counts by the hour, so only a loopback baseURL may have less than 3600"
            )
        }
        return JobLimits(
            concurrency: Int(section?.integer("concurrency", in: 1...256) ?? 32),
            share: section?.number("share", upTo: 1) ?? 0.5,
            requestsPerSecond: requestsPerSecond(section, environment),
            windowSeconds: Int(windowSeconds)
        )
    }

    private func requestsPerSecond(
        _ limits: Section?,
        _ environment: AppStoreEnvironment
    ) -> [StreamName: Double] {
        let section = limits?.section("requestsPerSecond", keys: AllStreams.names.map(\.rawValue))
        let rates = AllStreams.types.map { type in
            let given = section?.number(type.name.rawValue, upTo: 1_000_000)
            return (type.name, given ?? type.requestsPerSecond(in: environment))
        }
        return Dictionary(uniqueKeysWithValues: rates)
    }
}

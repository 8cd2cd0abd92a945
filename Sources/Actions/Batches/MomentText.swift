package import AppStoreModel
import FoundationEssentials

extension UnixMilliseconds {
    /// ISO 8601, UTC, whole seconds, such as `2026-11-24T23:28:57Z`.
    package var iso8601: String { Date(timeIntervalSince1970: Double(rawValue / 1_000)).ISO8601Format() }
}

package import Basics

/// This machine's clock differs too much from another clock.
package struct ClockIsOff: ExplainedError {
    package let sentence: String
    package let status = ExitStatus.configuration

    /// Returns `nil` for a difference of up to a minute.
    ///
    /// - Parameters:
    ///   - offset: The other clock, minus this machine's.
    ///   - whose: The owner of the other clock, such as `Apple`.
    init?(_ offset: Duration, of whose: String) {
        let seconds = Int(offset.inSeconds.rounded())
        guard abs(seconds) > 60 else { return nil }
        let side = seconds > 0 ? "behind" : "ahead of"
        sentence = "this machine's clock is \(abs(seconds)) s \(side) \(whose)'s; set the one that is wrong (NTP)"
    }

    /// How far the clocks differ.
    ///
    /// Leases do not depend on this machine's clock, but Apple rejects tokens from a wrong clock.
    ///
    /// - Throws: ``ClockIsOff`` if they differ by more than a minute.
    package static func finding(_ offset: Duration, of whose: String) throws -> String {
        if let off = ClockIsOff(offset, of: whose) { throw off }
        return "within \(Int(abs(offset.inSeconds).rounded())) s of \(whose)'s"
    }
}

/// PostgreSQL's clock has to reach the latest moment at which requests were granted.
struct ClockIsBehind: ExplainedError {
    let sentence: String
    let status = ExitStatus.configuration

    init(by difference: Duration) {
        sentence =
            "not checked: PostgreSQL's clock is \(difference.inWords) behind the ledger's latest moment; no request is sent until it has caught up"
    }
}

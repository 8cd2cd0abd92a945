import AppStoreModel
import FoundationEssentials

/// What one simulated App Store is started with; the defaults are those of `appstore-simulator serve`.
package struct SimulatorConfiguration: Sendable {
    package enum RateLimit: String, CaseIterable, Sendable {
        case documented
        case none
    }

    package enum Environment: String, CaseIterable, Sendable {
        case production = "Production"
        case sandbox = "Sandbox"

        var model: AppStoreEnvironment {
            switch self {
            case .production: .production
            case .sandbox: .sandbox
            }
        }
    }

    /// Where its files go; made with mode 0700 when missing.
    package var directory: String
    /// 0 takes any free port.
    package var port = 0
    package var seed: UInt64 = 1
    /// At least 1.
    package var customers = 100
    /// The mean, 0 to 200.
    package var transactionsPerCustomer = 10
    package var environment = Environment.production
    package var rateLimit = RateLimit.documented
    /// 1 to 86,400.
    package var windowSeconds = 3_600
    /// One notification in so many enters the history 66 to 180 minutes after its date; 0 for none.
    package var lateNotifications = 0
    /// A JSON file of fault rules, in the form that `PUT /simulator/faults` takes too.
    package var faultsFile: String?
    /// The moment the world is looked at, in ISO 8601; `nil` takes the one of the directory's world, or else today's UTC midnight.
    package var anchor: String?

    package init(directory: String) {
        self.directory = directory
    }

    /// Every fault a rule can ask for.
    package static var faultNames: [String] { FaultRule.Fault.allCases.map(\.rawValue) }

    /// - Throws: ``SimulatorError`` naming the first option that is out of range.
    package func check() throws(SimulatorError) {
        let ranges: [(String, Int, ClosedRange<Int>)] = [
            ("--port", port, 0...65_535),
            ("--customers", customers, 1...1_000_000),
            ("--transactions-per-customer", transactionsPerCustomer, 0...WorldParameters.mostTransactions),
            ("--window-seconds", windowSeconds, 1...86_400),
            ("--late-notifications", lateNotifications, 0...1_000_000),
        ]
        for (option, value, range) in ranges where !range.contains(value) {
            throw SimulatorError(
                .option,
                "\(option) is \(value); it must be from \(range.lowerBound) to \(range.upperBound)."
            )
        }
        _ = try anchorMoment()
    }

    func anchorMoment() throws(SimulatorError) -> UnixMilliseconds? {
        guard let anchor else { return nil }
        do {
            let date = try Date(anchor, strategy: .iso8601)
            let moment = UnixMilliseconds(rawValue: Int64(date.timeIntervalSince1970) * 1_000)
            // A world reaches four years back, and certificates further; Apple's dates begin with 2008.
            if moment.rawValue >= 1_200_000_000_000 { return moment }
        } catch {
            // Both ways of being wrong get the sentence below.
        }
        throw SimulatorError(
            .option,
            "--anchor is \"\(anchor)\"; it must be a moment since 2008 such as 2026-10-01T00:00:00Z."
        )
    }
}

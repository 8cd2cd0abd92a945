import AppStoreModel
import FoundationEssentials

/// The options of one simulated App Store, with the defaults of `appstore-simulator serve`.
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

    /// The directory of its files; created with mode 0700 when missing.
    package var directory: String
    /// 0 chooses any free port.
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
    /// The history lists one notification in this many 66 to 180 minutes after its date; 0 for none.
    package var lateNotifications = 0
    /// After how many status requests a request to extend all subscriptions is complete; 0 means at once.
    package var massExtensionRequests = Self.defaultMassExtensionRequests
    /// After how many lists Apple's review of retention messages and their images ends in production; 0 means at once.
    package var reviewRequests = Self.defaultReviewRequests
    /// Further customers in the United States, each with one active Advanced Commerce subscription to the same SKU.
    package var advancedCommerceSubscribers = 0
    /// Further customers, each with one active subscription of five seats; of four, the app's server invites the members of three.
    package var seatSubscribers = 0
    /// A JSON file with fault rules, in the format of `PUT /simulator/faults`.
    package var faultsFile: String?
    /// Where notifications are posted; `nil` when they are only in the history.
    package var delivery: DeliverySettings?
    /// The moment of the world in ISO 8601; `nil` means the moment of the directory's world, or else the last UTC
    /// midnight.
    package var anchor: String?

    /// The apps of the account; each has a separate world.
    ///
    /// The files of the first app are in ``directory``. Each further app has a folder there, named by its bundle ID.
    package var bundleIds = [Self.defaultBundleId]

    package init(directory: String) {
        self.directory = directory
    }

    package static let defaultMassExtensionRequests = 2
    package static let defaultReviewRequests = 2
    package static let defaultBundleId = "com.example.game"

    /// The values of `fault` in a fault rule.
    package static var faultNames: [String] { FaultRule.Fault.allCases.map(\.rawValue) }

    /// The values of `fault` in a fault rule of deliveries.
    package static var deliveryFaultNames: [String] { DeliveryFaultRule.Fault.allCases.map(\.rawValue) }

    /// The endpoints of Apple's API that the simulator answers, as fault rules name them.
    package static var endpointNames: [String] { Route.all.map(\.name.text) }

    /// - Throws: ``SimulatorError`` for the first option that is out of range.
    package func check() throws(SimulatorError) {
        let ranges: [(String, Int, ClosedRange<Int>)] = [
            ("--port", port, 0...65_535),
            ("--customers", customers, 1...1_000_000),
            ("--transactions-per-customer", transactionsPerCustomer, 0...WorldParameters.mostTransactions),
            ("--window-seconds", windowSeconds, 1...86_400),
            ("--late-notifications", lateNotifications, 0...1_000_000),
            ("--mass-extension-requests", massExtensionRequests, 0...1_000_000),
            ("--review-requests", reviewRequests, 0...1_000_000),
            ("--advanced-commerce-subscribers", advancedCommerceSubscribers, 0...1_000_000),
            ("--seat-subscribers", seatSubscribers, 0...1_000_000),
        ]
        for (option, value, range) in ranges where !range.contains(value) {
            throw SimulatorError(
                .option,
                "\(option) is \(value); it must be from \(range.lowerBound) to \(range.upperBound)."
            )
        }
        guard !bundleIds.isEmpty, Set(bundleIds).count == bundleIds.count, bundleIds.allSatisfy(Self.isBundleId) else {
            throw SimulatorError(
                .option,
                "--bundle-id names \(bundleIds.joined(separator: ", ")); bundle IDs have letters, digits, hyphens and dots, and each must be another."
            )
        }
        _ = try anchorMoment()
        try delivery?.check()
    }

    private static func isBundleId(_ text: String) -> Bool {
        (1...155).contains(text.utf8.count) && !text.hasPrefix(".")
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == ".") }
    }

    func anchorMoment() throws(SimulatorError) -> UnixMilliseconds? {
        guard let anchor else { return nil }
        do {
            let date = try Date(anchor, strategy: .iso8601)
            let moment = UnixMilliseconds(rawValue: Int64(date.timeIntervalSince1970) * 1_000)
            // A world starts four years before this moment and certificates earlier; Apple's dates start in 2008.
            if moment.rawValue >= 1_200_000_000_000 { return moment }
        } catch {
            // Text that is not a date and a date that is too early get the same message.
        }
        throw SimulatorError(
            .option,
            "--anchor is \"\(anchor)\"; it must be a moment since 2008 such as 2026-10-01T00:00:00Z."
        )
    }
}

import AppStoreSimulator
import ArgumentParser
import Platform

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serves the history of an account's apps until SIGINT or SIGTERM.",
        discussion: """
            Before it accepts a connection, it writes these files into the directory:
            root.cer, SubscriptionKey_<keyId>.p8, ids.csv, orders.csv, receipts.csv,
            job.yaml and, last, ready.json (port, baseURL, pid). ids.csv has a transaction
            ID of each customer, orders.csv an order ID of each customer who has bought
            something; in the sandbox, which has no Look Up Order ID, it has only its
            header. receipts.csv has receipts of the first hundred customers, one without
            purchases and one of Xcode. The same seed, sizes and
            environment give the same world. When the directory already contains that
            world, its keys and cursors stay valid.

            Like Apple, it signs a transaction each time it answers: in every answer the
            transaction has a new signedDate and other bytes, and the rest of its payload
            stays the same. A notification keeps the dates it was sent with. Its
            sendAttempts are the attempts made until the answer: Apple retries a failed
            one after 1, 12, 24, 48 and 72 hours.

            Time alone adds no transaction and no notification. A subscription whose period
            has ended since then is expired, in its grace period or in billing retry.

            Examples:
              appstore-simulator serve --directory /tmp/store --port 8080
              appstore-simulator serve --directory /tmp/store --customers 1000
              appstore-simulator serve --directory /tmp/store --window-seconds 60
              appstore-simulator serve --directory /tmp/store \\
                --bundle-id com.example.one --bundle-id com.example.two

            Fault rules (--faults FILE, or PUT /simulator/faults at any time) are JSON:
              {"rules": [
                {"endpoint": "transactionHistory", "everyNth": 100,
                 "fault": "rateLimited", "retryAfter": ["1798761600000"]},
                {"atRequest": 5, "fault": "status", "status": 500,
                 "errorCode": 5000001, "errorMessage": "Try again."},
                {"everyNth": 50, "times": 3, "fault": "dropConnection"}
              ], "tokenLifetimeSeconds": 600}
            Faults: \(SimulatorConfiguration.faultNames.joined(separator: ", ")).
            Endpoints: \(SimulatorConfiguration.endpointNames.joined(separator: ", ")).
            A rule counts the requests of its endpoint and its transactionId or orderId;
            without these members it counts all requests. It applies to request number atRequest,
            to every everyNth, or to all, and at most times times. Members for single
            faults: retryAfter, status, errorCode, errorMessage, body, bytes,
            bytesPerSecond, milliseconds; oneIn: sign only one record in this many
            incorrectly. refuseToken answers 401 for milliseconds, refuseNewToken until a
            token is milliseconds old. omitPrice signs transactions without price and
            currency; secondTransactionId gives a subscription's transactions in the history
            other IDs than in the notifications. The rules are for all apps. applyThenDrop and applyThenStatus apply a request that changes the
            world and lose its answer; refuseRepeat refuses a request identifier that was
            applied before.

            Requests that change the world are kept in steps.jsonl, so a restarted
            simulator has the same world.

            With --notify-url it posts the notifications of later changes, as Apple does: a
            status from 200 to 206 is a success, and anything else is tried again after 1,
            12, 24, 48 and 72 hours, in the sandbox not at all. The history and the status of
            test notifications have the attempts that were made. They are kept in
            deliveries.jsonl. Faults of deliveries (PUT /simulator/delivery-faults):
              {"rules": [
                {"fault": "drop", "everyNth": 10, "attempts": 1, "result": "TIMED_OUT"},
                {"fault": "unlist", "notificationType": "REFUND", "times": 1}
              ]}
            Faults: \(SimulatorConfiguration.deliveryFaultNames.joined(separator: ", ")).

            The simulator's own endpoints need no token; with several apps, ?bundleId=ID
            names the app:
              POST /simulator/advance   {"changes": 10}: new records, a minute old, or with
                                        "from" since that time in milliseconds;
                                        {"days": 1}: the changes of the next day;
                                        {"refundRequests": 5}: requests for refunds,
                                        for which Apple asks the app;
                                        {"renewals": 5}: subscriptions with changed
                                        prices renew or expire;
                                        {"externalPurchaseTokens": 4}: tokens of
                                        purchases outside the App Store
              GET  /simulator/requests  counts and requests
              GET  /simulator/pages/0   answers with records, from the first on
              GET  /simulator/world     what a crawl must find now; of one kind alone:
                                        /simulator/world/transaction
              GET  /simulator/actions   the requests that changed the world
              PUT  /simulator/faults    replaces the fault rules
              GET  /simulator/deliveries        notifications that are posted
              PUT  /simulator/delivery-faults   replaces the faults of deliveries
            Example:
              curl -d '{"changes": 10}' http://127.0.0.1:8080/simulator/advance
            """
    )

    @Option(help: "The directory for its files; created when missing.")
    var directory: String

    @Option(
        name: .customLong("bundle-id"),
        help: """
            The bundle ID of an app; several times for several apps with one key. The files of the second and further apps \
            are in DIRECTORY/BUNDLE-ID (default: com.example.game).
            """
    )
    var bundleIds: [String] = []

    @Option(help: "The port on 127.0.0.1; 0 chooses any free port.")
    var port = 0

    @Option(help: "The seed of the world: the same seed gives the same world.")
    var seed: UInt64 = 1

    @Option(help: "The number of customers.")
    var customers = 100

    @Option(help: "The mean number of transactions per customer, 0 to 200. Each customer has 0 to 200.")
    var transactionsPerCustomer = 10

    @Option(help: "Production or Sandbox.")
    var environment = SimulatorConfiguration.Environment.production

    @Option(help: "documented: Apple's limits in a sliding window; none: no limits.")
    var rateLimit = SimulatorConfiguration.RateLimit.documented

    @Option(help: "The length of that window in seconds; the number of allowed requests is proportional to it.")
    var windowSeconds = 3_600

    @Option(
        help: """
            One notification in this many enters the history 66 to 180 minutes after its date, as some of Apple's do; \
            0: none.
            """
    )
    var lateNotifications = 0

    @Option(
        help: "After this many status requests a request to extend all subscriptions is complete; 0: at once."
    )
    var massExtensionRequests = SimulatorConfiguration.defaultMassExtensionRequests

    @Option(
        help: "After this many lists the review of retention messages and their images ends; 0: at once."
    )
    var reviewRequests = SimulatorConfiguration.defaultReviewRequests

    @Option(
        help: """
            Further customers in the United States, each with one active Advanced Commerce subscription to the SKU \
            shelf-1, to try price changes out.
            """
    )
    var advancedCommerceSubscribers = 0

    @Option(
        help: """
            Further customers with one active subscription of five seats each, for the sandbox's calls of groups and \
            seats. Apple, not the app's server, invites the members of every fourth.
            """
    )
    var seatSubscribers = 0

    @Option(help: "A file with fault rules, see above.")
    var faults: String?

    @Option(
        help: "Post notifications to this URL: https, or http to loopback. Without it they are only in the history."
    )
    var notifyURL: String?

    @Option(help: "2: signed notifications; 1: Apple's deprecated format, which the history does not have.")
    var notifyVersion = DeliverySettings.Version.two

    @Option(help: "Divide Apple's pauses between two attempts by this: with 3600 an hour is a second.")
    var retrySpeed = 1

    @Option(help: "The most posts at a time.")
    var notifyConcurrency = 8

    @Option(help: "The shared secret in version 1 notifications, which have one instead of a signature.")
    var sharedSecret: String?

    @Option(
        help:
            "When the world ends, in ISO 8601, such as 2026-10-01T00:00:00Z, since 2008; by default the last midnight in UTC."
    )
    var anchor: String?

    func validate() throws {
        do {
            try configuration.check()
        } catch {
            throw ValidationError(error.description)
        }
    }

    func run() async throws {
        do {
            try await SimulatedAppStore.serve(configuration) { store in
                print("Serving \(store.baseURL), files in \(store.directory)")
                // A program that reads this through a pipe waits for the line.
                fflush(nil)
            }
        } catch let error as SimulatorError {
            var stderr = StandardError()
            print("appstore-simulator: \(error)", to: &stderr)
            throw error.exitCode
        }
    }

    private var configuration: SimulatorConfiguration {
        var configuration = SimulatorConfiguration(directory: directory)
        configuration.port = port
        if !bundleIds.isEmpty { configuration.bundleIds = bundleIds }
        configuration.seed = seed
        configuration.customers = customers
        configuration.transactionsPerCustomer = transactionsPerCustomer
        configuration.environment = environment
        configuration.rateLimit = rateLimit
        configuration.windowSeconds = windowSeconds
        configuration.lateNotifications = lateNotifications
        configuration.massExtensionRequests = massExtensionRequests
        configuration.reviewRequests = reviewRequests
        configuration.advancedCommerceSubscribers = advancedCommerceSubscribers
        configuration.seatSubscribers = seatSubscribers
        configuration.faultsFile = faults
        configuration.anchor = anchor
        configuration.delivery = delivery
        return configuration
    }

    private var delivery: DeliverySettings? {
        notifyURL.map { url in
            var settings = DeliverySettings(url: url)
            settings.version = notifyVersion
            settings.retrySpeed = retrySpeed
            settings.concurrency = notifyConcurrency
            if let sharedSecret { settings.sharedSecret = sharedSecret }
            return settings
        }
    }
}

extension DeliverySettings.Version: ExpressibleByArgument {}

extension SimulatorConfiguration.Environment: ExpressibleByArgument {}
extension SimulatorConfiguration.RateLimit: ExpressibleByArgument {}

extension SimulatorError {
    /// The same as in `storeledger`: 64 command line, 66 input, 73 output, 69 unavailable.
    fileprivate var exitCode: ExitCode {
        switch reason {
        case .option: ExitCode(64)
        case .input: ExitCode(66)
        case .output: ExitCode(73)
        case .port: ExitCode(69)
        }
    }
}

/// stderr, for messages; stdout has the results.
private struct StandardError: TextOutputStream {
    func write(_ text: String) {
        let bytes = Array(text.utf8)
        // There is no other place to report that stderr cannot be written.
        _ = unsafe bytes.withUnsafeBytes { unsafe Platform.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

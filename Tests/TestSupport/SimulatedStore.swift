import FoundationEssentials

/// A running `appstore-simulator`.
package struct SimulatedStore: Sendable {
    package struct Options: Sendable {
        package var seed: Int
        package var customers: Int
        package var transactionsPerCustomer: Int
        /// `Production` or `Sandbox`.
        package var appEnvironment: String
        /// `nil` for no rate limits.
        package var windowSeconds: Int?
        /// One in this many notifications enters the history late, 66 to 180 minutes after its date; 0 for none.
        package var lateNotifications: Int
        /// Fault rules, as JSON.
        package var faults: String?
        /// More arguments of `serve`, such as `--notify-url`.
        package var arguments: [String] = []
        /// How many seconds before now the simulated data ends.
        ///
        /// With a small number its changes are as recent as Apple's notifications.
        package var secondsSinceAnchor = 60
        /// The environment of the process, for example for a clock that can be set.
        package var environment: [String: String]

        package init(
            seed: Int = 7,
            customers: Int = 12,
            transactionsPerCustomer: Int = 12,
            appEnvironment: String = "Production",
            windowSeconds: Int? = nil,
            lateNotifications: Int = 0,
            faults: String? = nil,
            environment: [String: String] = [:]
        ) {
            self.seed = seed
            self.customers = customers
            self.transactionsPerCustomer = transactionsPerCustomer
            self.appEnvironment = appEnvironment
            self.windowSeconds = windowSeconds
            self.lateNotifications = lateNotifications
            self.faults = faults
            self.environment = environment
        }
    }

    package struct Arrival: Decodable, Sendable {
        package let at: Int64
        package let endpoint: String
        package let status: Int
        package let transactionId: String?
        /// Of Look Up Order ID.
        package let orderId: String?
        /// A short name for the bearer token; each process has its own.
        package let token: String?
    }

    /// A page or another answer with records, as it was served.
    package struct ServedPage: Decodable, Sendable {
        /// The cursor of the request.
        package let asked: String?
        /// The cursor of the answer; `nil` when the answer is not a page.
        package let next: String?
        package let hasMore: Bool?
        package let records: [ServedRecord]
    }

    package struct ServedRecord: Decodable, Sendable {
        /// `transaction`, `refund`, `notification`, `renewal` or `appTransaction`, by the endpoint.
        package let kind: String
        package let key: String
        /// The moment of the answer; for a notification, the moment when it was sent.
        package let signedDate: Int64
        /// The latest date in the record without its signing date.
        ///
        /// A newer state of the record has a later one.
        package let changed: Int64
        /// The SHA-256 of a JWS that must be rejected.
        package let bad: String?
    }

    package struct Requests: Decodable, Sendable {
        package let total: Int
        /// The number of requests over the rate limit.
        package let refused: Int
        package let arrivals: [Arrival]

        package func count(of endpoint: String) -> Int { arrivals.count { $0.endpoint == endpoint } }
    }

    package struct Change: Decodable, Sendable {
        package let transactionId: String
        package let isNew: Bool
        package let notificationUUID: String
    }

    package let directory: String
    private let http: LoopbackHTTP

    /// Runs a simulator in `directory` during `body`.
    package static func serving<Result>(
        _ options: Options,
        in directory: String,
        _ body: (SimulatedStore) async throws -> Result
    ) async throws -> Result {
        let now = Date.now.timeIntervalSince1970.rounded(.down)
        let anchor = Date(timeIntervalSince1970: now - Double(options.secondsSinceAnchor))
        var arguments = [
            "serve", "--directory", directory, "--seed", String(options.seed), "--customers", String(options.customers),
            "--transactions-per-customer", String(options.transactionsPerCustomer), "--anchor", anchor.ISO8601Format(),
            "--late-notifications", String(options.lateNotifications),
            "--environment", options.appEnvironment,
        ]
        if let window = options.windowSeconds {
            arguments += ["--rate-limit", "documented", "--window-seconds", String(window)]
        } else {
            arguments += ["--rate-limit", "none"]
        }
        if let faults = options.faults {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try Data(faults.utf8).write(to: URL(filePath: directory + "/faults.json"))
            arguments += ["--faults", directory + "/faults.json"]
        }
        let environment = options.environment
        arguments += options.arguments
        return try await withChildProcess(Executables.simulator, arguments, environment: environment) { process in
            guard await process.outputLine(with: "Serving") != nil else {
                throw NotServing(errors: process.errors)
            }
            let text = try Data(contentsOf: URL(filePath: directory + "/ready.json"))
            let port = try JSONDecoder().decode(Ready.self, from: text).port
            return try await body(SimulatedStore(directory: directory, http: LoopbackHTTP(port: port)))
        }
    }

    private struct Ready: Decodable {
        let port: Int
    }

    package struct NotServing: Error {
        package let errors: String
    }

    /// Everything that a complete crawl must find now, as JSON lines.
    package func world() async throws -> String {
        String(decoding: try await http.get("/simulator/world").body, as: UTF8.self)
    }

    package func requests() async throws -> Requests {
        try JSONDecoder().decode(Requests.self, from: Data(try await http.get("/simulator/requests").body))
    }

    /// All served answers with records from this number on, counted from 0.
    package func pages(since number: Int) async throws -> [ServedPage] {
        try await http.get("/simulator/pages/\(number)").body.split(separator: UInt8(ascii: "\n"))
            .map { try JSONDecoder().decode(ServedPage.self, from: Data($0)) }
    }

    /// The requests that changed something in the store, grouped if they are equal, decoded as the caller's type.
    package func actions<Entry: Decodable>(as type: Entry.Type) async throws -> [Entry] {
        try await http.get("/simulator/actions").body.split(separator: UInt8(ascii: "\n"))
            .map { try JSONDecoder().decode(type, from: Data($0)) }
    }

    package func advance(changes: Int) async throws -> [Change] {
        try await advance("changes", changes)
    }

    /// Lets customers ask for refunds.
    ///
    /// - Returns: The CONSUMPTION_REQUEST of each.
    package func advance(refundRequests: Int) async throws -> [Change] {
        try await advance("refundRequests", refundRequests)
    }

    /// Ends the periods of subscriptions that Advanced Commerce requests have changed: they renew or expire.
    package func advance(renewals count: Int) async throws {
        try await expect(200, of: http.send("POST", "/simulator/advance", "{\"renewals\": \(count)}"))
    }

    /// Creates tokens of external purchases, each with a notification.
    package func advance(externalPurchaseTokens count: Int) async throws {
        let body = "{\"externalPurchaseTokens\": \(count)}"
        try await expect(200, of: http.send("POST", "/simulator/advance", body))
    }

    private func advance(_ step: String, _ count: Int) async throws -> [Change] {
        struct Answer: Decodable { let changes: [Change] }
        let answer = try await http.send("POST", "/simulator/advance", "{\"\(step)\": \(count)}")
        return try JSONDecoder().decode(Answer.self, from: Data(answer.body)).changes
    }

    /// Adds changes whose notifications are dated from `moment` on (milliseconds since 1970), a millisecond apart.
    package func advance(changes: Int, from moment: Int64) async throws {
        let body = "{\"changes\": \(changes), \"from\": \(moment)}"
        try await expect(200, of: http.send("POST", "/simulator/advance", body))
    }

    /// A notification that the store posts.
    package struct Delivery: Decodable, Sendable {
        package struct Attempt: Decodable, Sendable {
            package let attemptDate: Int64
            package let sendAttemptResult: String
        }

        package let notificationUUID: String
        package let notificationType: String
        package let signedDate: Int64
        package let sendAttempts: [Attempt]
        /// The number of posts that were answered with a status from 200 to 206.
        package let answered: Int
        package let nextAttemptDate: Int64?
        package let isListed: Bool
    }

    /// The notifications that the store posts, in the order of sending.
    package func deliveries() async throws -> [Delivery] {
        try await http.get("/simulator/deliveries").body.split(separator: UInt8(ascii: "\n"))
            .map { try JSONDecoder().decode(Delivery.self, from: Data($0)) }
    }

    /// Replaces the fault rules of deliveries; `faults` is JSON.
    package func setDeliveryFaults(_ faults: String) async throws {
        try await expect(200, of: http.send("PUT", "/simulator/delivery-faults", faults))
    }

    private func expect(_ status: Int, of answer: LoopbackHTTP.Answer) throws {
        guard answer.status == status else { throw NotServing(errors: String(decoding: answer.body, as: UTF8.self)) }
    }

    /// Replaces the fault rules; `faults` is JSON.
    package func setFaults(_ faults: String) async throws {
        try await expect(200, of: http.send("PUT", "/simulator/faults", faults))
    }

    /// Waits until `count` requests have arrived, or until `isOver`.
    package func arrivals(_ count: Int, unless isOver: () -> Bool) async throws {
        while try await requests().total < count, !isOver() {
            // Each poll takes time of the simulator, which it needs for the requests that the test waits for.
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}

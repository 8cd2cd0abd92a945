import AppStoreSimulator
import ArgumentParser
import Glibc

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serves one app's history until SIGINT or SIGTERM.",
        discussion: """
            Before it accepts a connection it writes into the directory: root.cer,
            AuthKey_<keyId>.p8, ids.csv, job.yaml and, last, ready.json (port, baseURL,
            pid). The same seed, sizes and environment give the same world; a directory
            that holds that world already is taken up again, with its keys and cursors.

            As Apple does, it signs a transaction each time it answers: the same
            transaction has another signedDate and other bytes in every answer, and
            everything else of its payload is the same. A notification keeps the dates
            under which it was sent. Its sendAttempts are those made until the answer:
            Apple retries a failed one after 1, 12, 24, 48 and 72 hours.

            Examples:
              appstore-simulator serve --directory /tmp/store --port 8080
              appstore-simulator serve --directory /tmp/store --customers 1000
              appstore-simulator serve --directory /tmp/store --window-seconds 60

            Fault rules (--faults FILE, or PUT /simulator/faults at any time) are JSON:
              {"rules": [
                {"endpoint": "transactionHistory", "everyNth": 100,
                 "fault": "rateLimited", "retryAfter": ["1798761600000"]},
                {"atRequest": 5, "fault": "status", "status": 500,
                 "errorCode": 5000001, "errorMessage": "Try again."},
                {"everyNth": 50, "times": 3, "fault": "dropConnection"}
              ], "tokenLifetimeSeconds": 600}
            Faults: \(SimulatorConfiguration.faultNames.joined(separator: ", ")).
            A rule counts the requests of its endpoint (transactionHistory,
            refundHistory or notificationHistory; all when left out) and of its
            transactionId. It strikes at number atRequest, at every everyNth, or always;
            times bounds how often. Details: retryAfter, status, errorCode,
            errorMessage, body, bytes, bytesPerSecond, milliseconds; oneIn, to sign only
            one record in so many wrongly.

            The simulator's own endpoints ask for no token:
              POST /simulator/advance   {"changes": 10}: new records, a minute old;
                                        {"days": 1}: a day's, from the last one on
              GET  /simulator/requests  counts and arrivals
              GET  /simulator/pages/0   pages served, from the first
              GET  /simulator/world     what a crawl must find now
              PUT  /simulator/faults    other fault rules
            For example:
              curl -d '{"changes": 10}' http://127.0.0.1:8080/simulator/advance
            """
    )

    @Option(help: "Where its files go; made when missing.")
    var directory: String

    @Option(help: "The port on 127.0.0.1; 0 takes any free one.")
    var port = 0

    @Option(help: "What the world is made from.")
    var seed: UInt64 = 1

    @Option(help: "How many customers there are.")
    var customers = 100

    @Option(help: "The mean number of transactions, 0 to 200; single customers have 0 to 200.")
    var transactionsPerCustomer = 10

    @Option(help: "Production or Sandbox.")
    var environment = SimulatorConfiguration.Environment.production

    @Option(help: "documented: Apple's limits, as a sliding window; none: no limit.")
    var rateLimit = SimulatorConfiguration.RateLimit.documented

    @Option(help: "How long that window is; the requests allowed in it shrink with it.")
    var windowSeconds = 3_600

    @Option(
        help: """
            One notification in so many enters the history 66 to 180 minutes after its date, as some of Apple's do; 0: \
            none.
            """
    )
    var lateNotifications = 0

    @Option(help: "A file of fault rules, see above.")
    var faults: String?

    @Option(
        help: ArgumentHelp(
            "The moment of the world in ISO 8601, such as 2026-10-01T00:00:00Z; not before 1971.",
            visibility: .hidden
        )
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
                // Whoever reads this through a pipe waits for it.
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
        configuration.seed = seed
        configuration.customers = customers
        configuration.transactionsPerCustomer = transactionsPerCustomer
        configuration.environment = environment
        configuration.rateLimit = rateLimit
        configuration.windowSeconds = windowSeconds
        configuration.lateNotifications = lateNotifications
        configuration.faultsFile = faults
        configuration.anchor = anchor
        return configuration
    }
}

extension SimulatorConfiguration.Environment: ExpressibleByArgument {}
extension SimulatorConfiguration.RateLimit: ExpressibleByArgument {}

extension SimulatorError {
    /// As `storeledger` has them: 64 command line, 66 input, 73 output, 69 something it needs is not to be had.
    fileprivate var exitCode: ExitCode {
        switch reason {
        case .option: ExitCode(64)
        case .input: ExitCode(66)
        case .output: ExitCode(73)
        case .port: ExitCode(69)
        }
    }
}

/// Messages go where results do not.
private struct StandardError: TextOutputStream {
    func write(_ text: String) {
        let bytes = Array(text.utf8)
        // Nobody can be told when stderr is gone.
        _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

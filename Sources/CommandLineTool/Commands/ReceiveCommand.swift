import AppStoreModel
import ArgumentParser
import Basics
import FoundationEssentials
import JobPlan
import Pipeline
import Receiver

struct ReceiveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receive",
        abstract: "Receive App Store Server Notifications until SIGINT or SIGTERM.",
        discussion: """
            Answers 200 when a notification is durable in the ledger, and makes records of
            it in the background. Answers 503 whenever a later attempt could succeed: Apple
            repeats a notification for 157 hours. It speaks HTTP/1.1 behind a proxy that
            ends TLS. Several receivers can run at once.

            GET /health is 200 while the database answers; GET /metrics is for Prometheus.

              storeledger receive jobs/nightly-sync.yaml
              storeledger receive receiver.yaml --listen 127.0.0.1:8091
            """
    )

    @OptionGroup var job: JobArgument

    @Option(
        help: ArgumentHelp(
            "The address and port; port 0 chooses any free one (default: receiver.listen, or \(ListenAddress.standard)).",
            valueName: "ADDRESS:PORT"
        )
    )
    var listen: ListenAddress?

    @Option(
        help: ArgumentHelp(
            "The path to which notifications are posted (default: receiver.path, or \(ReceiverSettings.defaultPath)).",
            valueName: "PATH"
        )
    )
    var path: String?

    func validate() throws {
        guard let path, !ReceiverSettings.isPath(path) else { return }
        throw ValidationError("--path is \(path); it must be \(ReceiverSettings.pathRule).")
    }

    func run() async throws {
        try await perform(job: job.path, endsBySignal: true) {
            let job = try job.load(.receiver)
            let settings = job.receiver.replacing(listen: listen, path: path)
            var limits = ReceiverLimits()
            limits.connections = min(limits.connections, OpenFiles.raiseLimit() - OpenFiles.reserve)
            let pipeline = ReceiverPipeline(job: job, at: try LedgerAddress(of: job))
            try await pipeline.receive(settings, limits: limits) { event in
                if case .remark(let sentence) = event {
                    Console.message("storeledger: \(sentence)")
                } else if case .listening(let port) = event {
                    let address = ListenAddress(host: settings.listen.host, port: port)
                    let app = "\(job.app.bundleId) (\(job.app.environment.rawValue))"
                    let url = "http://\(address)\(settings.path)"
                    Console.message("storeledger: receiving notifications of \(app) on \(url)")
                } else if let trouble = Trouble(event), let report = TroubleLog.shared.note(trouble) {
                    Console.message("storeledger: \(report.sentence)")
                }
            }
        }
    }
}

extension ListenAddress: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}

import ArgumentParser
import ExportPipeline
import Workers

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a job, or go on with its unfinished run.",
        discussion: """
            Run it again to continue: unfinished items go on from their cursor, finished ones ask only for what is new.
            The same job may run on several machines at once.

              storeledger run jobs/nightly-sync.yaml
              storeledger run jobs/nightly-sync.yaml --max-duration 2h --progress json
            """
    )

    @OptionGroup var job: JobArgument

    @Flag(help: "Begin everything at its beginning; nothing stored is lost.")
    var restart = false

    @Option(help: ArgumentHelp("Items under way at a time, 1 to 256; in place of limits.concurrency.", valueName: "N"))
    var concurrency: Int?

    @Option(
        help: ArgumentHelp(
            "Stop in order after this long, such as 90s, 30m or 2h; exit code 75 if work is left.",
            valueName: "TIME"
        )
    )
    var maxDuration: ShortDuration?

    @Option(help: ArgumentHelp("auto, bar, plain, json (lines on stderr) or none.", valueName: "FORM"))
    var progress: ProgressForm = .auto

    func validate() throws {
        if let concurrency, !(1...256).contains(concurrency) {
            throw ValidationError("--concurrency is \(concurrency); it must be from 1 to 256.")
        }
    }

    func run() async throws {
        try await perform {
            let pipeline = try job.pipeline()
            let options = ExportPipeline.Options(
                restart: restart,
                concurrency: concurrency,
                maximumDuration: maxDuration?.duration
            )
            let display = ProgressDisplay(form: progress, time: .system)
            let report = try await display.whileShowing { note in
                try await pipeline.run(options, report: note)
            }
            RunSummaryText(report: report).lines.forEach(Console.result)
            let status = report.exitStatus
            if status != .complete { throw ExitCode(status.rawValue) }
        }
    }
}

/// A duration as operators write it.
struct ShortDuration: ExpressibleByArgument {
    let duration: Duration

    init?(argument: String) {
        let seconds: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        guard let unit = argument.last.flatMap({ seconds[$0] }), let count = Int64(argument.dropLast()), count > 0,
            count <= 366 * 86_400 / unit
        else { return nil }
        duration = .seconds(count * unit)
    }
}

enum ProgressForm: String, ExpressibleByArgument, CaseIterable {
    case auto, bar, plain, json, none
}

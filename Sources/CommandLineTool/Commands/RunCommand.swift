import ArgumentParser
import Pipeline
import Platform

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a job, or resume its unfinished run.",
        discussion: """
            Run it again to continue. Unfinished items continue from their cursors, and
            finished ones request only new records. The same job can run on several
            machines at once. The apps of a job file, and several job files, run at once;
            the failure of one does not stop the others, and the worst exit code counts.

              storeledger run jobs/nightly-sync.yaml
              storeledger run all-apps.yaml --app com.example.game
              storeledger run jobs/nightly-sync.yaml --max-duration 2h --progress json
              storeledger run jobs/nightly-sync.yaml --metrics-file storeledger.prom
              storeledger run jobs/nightly-sync.yaml --if-older-than 12h
              storeledger run jobs/nightly-sync.yaml --json
              storeledger run jobs/nightly-sync.yaml --log-format json 2>>nightly.log
            """
    )

    @OptionGroup var jobs: JobsArgument

    @Flag(help: "Start all items at their first page; stored records are kept.")
    var restart = false

    @Option(
        help: ArgumentHelp(
            "End with 0 at once if a complete run began less than this time ago, such as 12h.",
            valueName: "TIME"
        )
    )
    var ifOlderThan: ShortDuration?

    @OptionGroup var items: ConcurrencyOption

    @OptionGroup var process: ProcessOptions

    func validate() throws {
        if restart, ifOlderThan != nil {
            throw ValidationError("Use either --restart or --if-older-than.")
        }
    }

    func run() async throws {
        var options = Pipeline.Options()
        options.restart = restart
        options.concurrency = items.concurrency
        options.maximumDuration = process.maxDuration?.duration
        try await JobRun(argument: jobs, options: options, process: process, ifOlderThan: ifOlderThan).perform()
    }
}

/// A duration on the command line.
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

    /// The form without `auto`: a bar on a terminal that understands escape codes, lines on another, and nothing elsewhere.
    ///
    /// A bar needs escape codes, so it becomes lines where there are none.
    var onThisTerminal: ProgressForm {
        resolved(isTerminal: Console.isTerminal, isCapable: Terminal.isCapable(STDERR_FILENO))
    }

    /// The form together with logs of a format: each line of JSON logs is an object, so a bar becomes the lines of
    /// ``plain``, as events.
    func combined(with format: LogFormat) -> ProgressForm {
        format == .json && self == .bar ? .plain : self
    }

    func resolved(isTerminal: Bool, isCapable: Bool) -> ProgressForm {
        switch self {
        case .auto: isCapable ? .bar : isTerminal ? .plain : .none
        case .bar: isCapable ? .bar : .plain
        case .plain, .json, .none: self
        }
    }
}

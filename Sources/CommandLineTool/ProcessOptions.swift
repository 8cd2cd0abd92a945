import ArgumentParser

/// The common options of `run`, `retry` and `actions run`: when to stop, and what to show and to write.
///
/// It is no option group, because ArgumentParser checks a group in a group many times: `run` would start half as fast
/// in a debug build.
struct ProcessOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Stop cleanly after this time, such as 90s, 30m or 2h; exit code 75 if work is left.",
            valueName: "TIME"
        )
    )
    var maxDuration: ShortDuration?

    @Option(
        help: ArgumentHelp(
            "auto, bar, plain (a line a minute), json (lines on stderr) or none; auto is a bar on a terminal, otherwise none.",
            valueName: "FORM"
        )
    )
    var progress: ProgressForm = .auto

    @Option(
        help: ArgumentHelp(
            "plain, or json: one object per line on stderr, with time, level and fields.",
            valueName: "FORM"
        )
    )
    var logFormat: LogFormat = .plain

    @Option(help: ArgumentHelp("The lowest level to log: debug, info, notice, warning or error.", valueName: "LEVEL"))
    var logLevel: LogLevel = .info

    @Option(help: MetricsOptions.fileHelp)
    var metricsFile: String?

    @Flag(help: "Write the summary as one JSON document to stdout.")
    var json = false

    /// The log of the command, and the form in which its progress is shown.
    var display: (log: RunLog, form: ProgressForm) {
        let form = progress.onThisTerminal
        return (RunLog(options: self, progress: form), form.combined(with: logFormat))
    }

    /// The log of one of several apps, and the form in which its progress is shown: lines in place of a bar.
    func display(of app: String) -> (log: RunLog, form: ProgressForm) {
        let form = progress.onThisTerminal == .bar ? .plain : progress.onThisTerminal
        return (RunLog(options: self, progress: form, app: app), form)
    }

    var metrics: MetricsOptions {
        var options = MetricsOptions()
        options.metricsFile = metricsFile
        return options
    }
}

import ArgumentParser

/// The common options of `run`, `retry` and `actions run`: when to stop, and what to show and to write.
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

    @OptionGroup var log: LogOptions

    @OptionGroup var metrics: MetricsOptions

    @Flag(help: "Write the summary as one JSON document to stdout.")
    var json = false

    /// The log of the command, and the form in which its progress is shown.
    var display: (log: RunLog, form: ProgressForm) {
        let form = progress.onThisTerminal
        return (RunLog(options: log, progress: form, asked: progress), form.beside(log.logFormat))
    }
}

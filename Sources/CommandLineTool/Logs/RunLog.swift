import AppStoreModel
import Basics
import Crawl
import JobFiles
import Ledger
import Logging
import Pipeline
import Planning
import Streams

/// Logs the events of a run, one record for each.
///
/// | Level | Means |
/// |---|---|
/// | `error` | the command fails |
/// | `warning` | data is or may be missing: an item failed, or the job file has a questionable setting |
/// | `notice` | notable, but nothing to do: a limit was reached, or an item started again |
/// | `info` | the progress of the run |
/// | `debug` | every page, every short wait for the budget, every postponed item |
struct RunLog: Sendable {
    private let logger: Logger
    private let isJSON: Bool
    private let isSilent: Bool
    private let troubles = TroubleLog()
    /// The app that each record names; `nil` in a process of one app.
    let app: String?

    /// Creates the log for a display of the form `progress`.
    ///
    /// `progress` is the form in use, ``ProgressForm/onThisTerminal``. It can differ from `options.progress`, the requested form.
    init(options: ProcessOptions, progress: ProgressForm, app: String? = nil) {
        self.app = app
        isJSON = options.logFormat == .json
        let showsBar = progress == .bar
        let form: LineLogHandler.Form =
            switch (options.logFormat, progress) {
            case (.json, _): .json
            case (.plain, .json): .progressEvent
            case (.plain, _): .sentence(clearsLine: showsBar)
            }
        // `--progress none` with plain logs shows only troubles, and why a run ended.
        isSilent = options.logFormat == .plain && options.progress == .none
        let level = isSilent ? .error : options.logLevel.loggerLevel
        var logger = Logger(label: "storeledger") { _ in LineLogHandler(form: form, level: level) }
        if let app { logger[metadataKey: "app"] = "\(app)" }
        self.logger = logger
    }

    /// The sentence with the app, for lines that are not records.
    private func named(_ sentence: String) -> String { app.map { "\($0): \(sentence)" } ?? sentence }

    func warn(_ sentence: String) {
        if isJSON {
            logger.warning("\(sentence)")
        } else {
            Console.message("storeledger: warning: \(named(sentence))")
        }
    }

    func failed(_ message: String, exitCode: Int32) {
        if isJSON {
            logger.error("\(message)", metadata: ["exitCode": "\(exitCode)"])
        } else {
            Console.message("storeledger: \(named(message))")
        }
    }

    /// Says that the run was stopped on purpose; not an error.
    func stopped(_ message: String, exitCode: Int32) {
        if isSilent { return Console.message(named(message)) }
        logger.notice("\(message)", metadata: ["exitCode": "\(exitCode)"])
    }

    func ended(_ report: SessionResult) {
        // In plain form the summary on stdout contains this.
        guard isJSON else { return }
        let summary = report.summary
        logger.log(
            level: report.exitStatus == .complete ? .info : .warning,
            "\(report.job): run \(summary.run) \(report.ending)",
            metadata: [
                "job": "\(report.job)", "run": "\(summary.run)", "exitCode": "\(report.exitStatus.rawValue)",
                "items": "\(summary.items)", "itemsFailed": "\(summary.itemsFailed)", "pages": "\(summary.pages)",
                "requests": "\(summary.requests)", "rowsNew": "\(summary.rowsNew)",
                "rowsUpdated": "\(summary.rowsUpdated)", "rowsUnchanged": "\(summary.rowsUnchanged)",
                "recordsRejected": "\(summary.recordsRejected)", "gaps": "\(summary.gaps)",
            ]
        )
    }

    /// Says that no run was necessary.
    func skipped(_ sentence: String) {
        // In plain form the result on stdout says so.
        if isJSON { logger.info("\(sentence)") }
    }

    /// Prints a line of `--progress plain`.
    func progress(_ sentence: String) {
        if isJSON { logger.info("\(sentence)") } else { Console.message(named(sentence)) }
    }

    /// Reports a trouble at once, or later with others of its kind.
    func report(_ trouble: Trouble) {
        if let report = troubles.note(trouble) { show(report) }
    }

    /// Reports the delayed troubles that are due.
    func reportDue() {
        troubles.due().forEach(show)
    }

    /// Shown even with `--progress none`: a nightly job that waits or loses data must say so.
    private func show(_ report: TroubleReport) {
        if isSilent { return Console.message("storeledger: \(named(report.sentence))") }
        logger.log(
            level: report.trouble.kind == .rejected ? .warning : .notice,
            "\(report.sentence)",
            metadata: report.trouble.fields.mapValues { "\($0)" }
        )
    }

    func note(_ event: RunEvent) {
        if let trouble = Trouble(event) { report(trouble) }
        switch event {
        case .rehearsal(let sentence):
            // Shown even with `--progress none`: a nightly job must not use another server unnoticed.
            if isSilent { Console.message("storeledger: \(named(sentence))") } else { logger.warning("\(sentence)") }
        case .began(let start, let progress):
            let (items, done) = (progress.items, progress.done)
            let action = start.joined ? "continuing run \(start.run)" : "starting run \(start.run)"
            // A run without a list takes its IDs from notifications, later.
            let hasList = !start.joined && start.listedIDs > 0
            let listed = hasList ? ", \(start.listedIDs) IDs (\(start.duplicateIDs) duplicates dropped)" : ""
            logger.info(
                "\(action): \(items) items\(listed), \(done) done",
                metadata: ["run": "\(start.run)", "items": "\(items)", "itemsDone": "\(done)"]
            )
        case .counted(let progress):
            logger.debug("\(progress.items) items now", metadata: ["items": "\(progress.items)"])
        case .remark(let sentence):
            logger.notice("\(sentence)")
        case .publishing(let output):
            let directory = output.directory
            logger.info(
                "writing \(output.format.title) files into \(directory)",
                metadata: ["directory": "\(directory)"]
            )
        case .crawl(let event):
            note(event)
        }
    }

    private func note(_ event: CrawlEvent) {
        switch event {
        case .committed(let outcome, let requests):
            logger.debug(
                "page of \(outcome.item.stream.rawValue) \(outcome.item.key)",
                metadata: [
                    "stream": "\(outcome.item.stream.rawValue)", "item": "\(outcome.item.key)",
                    "requests": "\(requests)", "rowsNew": "\(outcome.rowsNew)",
                    "rowsUpdated": "\(outcome.rowsUpdated)", "rowsUnchanged": "\(outcome.rowsUnchanged)",
                    "recordsRejected": "\(outcome.rejected.count)",
                ]
            )
        case .ended(let item, let end):
            note(end, of: item.stream.rawValue, item.key)
        case .stalled(let stream, let wait, let moment):
            // With many processes, short waits are normal: the budget frees a little every second.
            logger.log(
                level: wait >= .seconds(10) ? .notice : .debug,
                "the budget of \(stream.rawValue) is spent; waiting until \(moment.clockTime) UTC",
                metadata: ["stream": "\(stream.rawValue)", "until": "\(moment.rawValue)"]
            )
        case .finished, .retrying, .closed, .clockIsBehind, .leaseLost, .idle:
            break
        }
    }

    private func note(_ end: ItemOutcome, of stream: String, _ item: String) {
        var fields: Logger.Metadata = ["stream": "\(stream)", "item": "\(item)"]
        let item = itemName(item)
        switch end {
        case .failed(let code, let message):
            if let code { fields["errorCode"] = "\(code)" }
            logger.warning("\(stream) \(item) failed: \(message)\(code.map { " (\($0))" } ?? "")", metadata: fields)
        case .restarted(_, let message):
            logger.notice("\(stream) \(item) starts again: \(message)", metadata: fields)
        case .deferred(_, _, let message):
            logger.debug("\(stream) \(item) is postponed: \(message)", metadata: fields)
        case .shortened(_, let message):
            logger.notice("\(stream) \(item) starts later: \(message)", metadata: fields)
        case .moved(let environment):
            logger.debug("\(stream) \(item) is tried in \(environment.rawValue)", metadata: fields)
        }
    }
}

extension UnixMilliseconds {
    /// `HH:MM:SS` in UTC.
    var clockTime: String {
        let seconds = rawValue / 1_000 % 86_400
        return [seconds / 3_600, seconds / 60 % 60, seconds % 60].map { ($0 < 10 ? "0" : "") + String($0) }.joined(
            separator: ":"
        )
    }
}

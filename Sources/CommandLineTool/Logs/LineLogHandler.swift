import FoundationEssentials
import Logging

/// Writes one line to stderr for each log record, with secrets redacted.
struct LineLogHandler: LogHandler {
    enum Form: Sendable {
        /// The sentence; on a terminal with a progress bar, it overwrites the bar.
        case sentence(clearsLine: Bool)
        /// The `message` events of `--progress json`.
        case progressEvent
        /// Time, level, message and fields.
        case json
    }

    let form: Form
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    init(form: Form, level: Logger.Level) {
        self.form = form
        logLevel = level
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let sentence = event.message.description
        let app = metadata["app"]?.description
        switch form {
        case .sentence(let clearsLine):
            Console.raw((clearsLine ? "\r\u{1B}[K" : "") + (app.map { "\($0): " } ?? "") + sentence + "\n")
        case .progressEvent:
            var fields = ["event": "message", "message": sentence]
            fields["app"] = app
            Console.raw(line(fields, sentence))
        case .json:
            var fields = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues(\.description)
            fields["time"] = Date.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
            fields["level"] = event.level.rawValue
            fields["message"] = sentence
            Console.raw(line(fields, sentence))
        }
    }

    /// Strings always encode.
    private func line(_ fields: [String: String], _ sentence: String) -> String {
        ((try? JSONOutput.line(fields)) ?? sentence) + "\n"
    }
}

import Basics
import Platform
import StrictJSON

/// The file `deliveries.jsonl`: from which notification on the simulator posts, and the attempts made, one JSON object a line.
///
/// An attempt is appended by one system call before an answer shows it, so a restarted simulator has the same history.
struct DeliveryJournal: Sendable {
    let path: String

    /// The content of the file.
    struct Content: Sendable {
        /// The index in the world of the first notification that is posted.
        let firstPlace: Int
        let attempts: [String: [SendAttempt]]
    }

    /// The file's content, without a last line that was not finished; `nil` when there is no file.
    func read() throws(SimulatorError) -> Content? {
        guard let bytes = try DirectoryFile.read(path) else { return nil }
        let newline = UInt8(ascii: "\n")
        var firstPlace: Int?
        var attempts: [String: [SendAttempt]] = [:]
        for line in bytes.prefix((bytes.lastIndex(of: newline) ?? -1) + 1).split(separator: newline) {
            // A damaged line is one attempt less, which the history shows as not made.
            guard let object = try? StrictJSON.parseObject(Array(line)) else { continue }
            if let place = object.integer("firstPlace") { firstPlace = place }
            if let uuid = object["notificationUUID"]?.string, let date = object.integer("attemptDate"),
                let result = object["sendAttemptResult"]?.string
            {
                attempts[uuid, default: []].append(SendAttempt(date: Int64(date), result: result))
            }
        }
        return firstPlace.map { Content(firstPlace: $0, attempts: attempts) }
    }

    /// Begins the file; notifications before `firstPlace` are not posted.
    func begin(firstPlace: Int) throws(SimulatorError) {
        let line = jsonObject { $0.member("firstPlace", Int64(firstPlace)) }
        try DirectoryFile.write(line + [UInt8(ascii: "\n")], to: path)
    }

    func append(_ attempt: SendAttempt, of uuid: String) throws(SimulatorError) {
        let line =
            jsonObject {
                $0.member("notificationUUID", uuid)
                $0.member("attemptDate", attempt.date)
                $0.member("sendAttemptResult", attempt.result)
            } + [UInt8(ascii: "\n")]
        let descriptor = unsafe open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure }
        defer { close(descriptor) }
        let written = unsafe line.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
        guard written == line.count else { throw failure }
    }

    /// Takes the reason from `errno`.
    private var failure: SimulatorError {
        SimulatorError(.output, "Writing \(path): \(systemErrorText(errno))")
    }
}

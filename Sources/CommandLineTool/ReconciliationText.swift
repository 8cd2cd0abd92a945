import Inbox

/// The plain text output of `reconcile`: a line for each day, and one for each type of it.
struct ReconciliationText {
    private let result: Reconciliation

    init(_ result: Reconciliation) {
        self.result = result
    }

    var lines: [String] {
        let head = "\(result.app) (\(result.environment)), checked \(result.checkedAt)"
        guard !result.days.isEmpty else {
            return [head, "  nothing to compare: no notification of a day that is over"]
        }
        return [head] + result.days.flatMap(Self.lines)
    }

    private static func lines(of day: ReconciledDay) -> [String] {
        guard day.state != .notRead else { return ["  \(day.day): \(words(for: day.state))"] }
        return ["  \(day.day): \(words(for: day.state))"] + day.types.map { "    \(text(of: $0))" }
    }

    private static func words(for state: ReconciledDay.State) -> String {
        switch state {
        case .clean: "clean"
        case .toBeReadAgain: "not in Apple's history yet; the next run reads the day again"
        case .unprovable: "not in Apple's history, which does not reach back so far"
        case .notRead: "not read yet"
        case .unexplained: "UNEXPLAINED: received, but not in Apple's history"
        case .missing: "MISSING: answered with success, but not stored by the receiver"
        }
    }

    private static func text(of type: ReconciledType) -> String {
        var parts = [
            "\(type.received) received", "\(type.inHistory) in the history", "\(type.receivedAndInHistory) in both",
        ]
        if type.recovered > 0 {
            let results = type.recoveredByResult.sorted { $0.key < $1.key }
                .map { "\($0.key.isEmpty ? "no result" : $0.key) \($0.value)" }
            parts.append("\(type.recovered) recovered by the crawl (\(results.joined(separator: ", ")))")
        }
        if type.answeredButMissing > 0 {
            parts.append("\(type.answeredButMissing) answered but missing\(example(type.missingExample))")
        }
        for (number, name) in [
            (type.toBeReadAgain, "to be read again"), (type.unexplained, "unexplained"),
            (type.unprovable, "unprovable"),
        ] where number > 0 { parts.append("\(number) \(name)\(example(type.notListedExample))") }
        return "\(type.notificationType): \(parts.joined(separator: ", "))"
    }

    private static func example(_ uuid: String?) -> String {
        uuid.map { ", such as \($0)" } ?? ""
    }
}

import JobFiles
import JobSyntax
import Streams

/// The values of a new job file.
///
/// Values that were not asked for yet are examples, so that the text is always a whole job file that can be checked.
struct JobDraft {
    let name: String
    /// The path of the job file.
    let file: String
    var bundleId = "com.example.game"
    var environment = "Production"
    /// Empty for none, which is allowed in Sandbox.
    var appAppleId = "1"
    var issuerId = "57246542-96fe-1a63-e053-0824d011072a"
    var keyId = "2X9R4HXF34"
    var privateKeyFile = "SubscriptionKey.p8"
    /// Empty to take the customers from notifications.
    var idsCsv = ""
    /// Empty for the first column of a file without a header.
    var idsColumn = "transaction_id"
    var changedSince = "lastRun"
    var share = "0.5"
    var csvDirectory: String?

    /// The environment in which a draft is checked.
    static let environment = ["DATABASE_URL": "postgresql:///ledger"]

    /// The text of the job file.
    var text: String {
        var lines = ["# \(name): storeledger run \(file)", "version: 1", "name: \(name)"]
        lines += ["", "app:", "  bundleId: \(Self.quoted(bundleId))"]
        lines += appAppleId.isEmpty ? [] : ["  appAppleId: \(appAppleId)"]
        lines += ["  environment: \(Self.quoted(environment))"]
        lines += ["", "appStore:", "  issuerId: \(Self.quoted(issuerId))", "  keyId: \(Self.quoted(keyId))"]
        lines += ["  privateKeyFile: \(Self.quoted(privateKeyFile))"]
        lines += ["", "transactionIds:"] + transactionIds
        lines += ["", "streams:"] + AllStreams.types.flatMap { $0.linesOfNewJob }.map { "  \($0)" }
        lines += ["", "# The rest of Apple's limit stays with the app's own servers.", "limits:", "  share: \(share)"]
        lines += ["", "output:", "  postgres: {url: \"${DATABASE_URL}\"}"]
        if let csvDirectory {
            let directory = Self.quoted(csvDirectory)
            lines.append("  csv: {directory: \(directory), tables: [transactions, refunds, notifications]}")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private var transactionIds: [String] {
        guard idsCsv.isEmpty else {
            let column = idsColumn.isEmpty ? "" : ", column: \(Self.quoted(idsColumn))"
            return ["  csv: {path: \(Self.quoted(idsCsv))\(column)}"]
        }
        return [
            "  # No list: each run takes its customers from the app's notifications, the first one from all that Apple keeps.",
            "  changedSince: \(Self.quoted(changedSince))",
        ]
    }

    /// Sets a value and checks the job file with it.
    ///
    /// - Parameters:
    ///   - value: The answer to a question.
    ///   - place: Where it is kept.
    ///   - key: Its key in the job file.
    /// - Returns: What is wrong with the value; `nil` if nothing is.
    mutating func set(_ value: String, _ place: WritableKeyPath<JobDraft, String>, _ key: String) -> String? {
        self[keyPath: place] = value
        do {
            _ = try AcceptedJobs.crawl.parse(text, path: file, environment: Self.environment)
            return nil
        } catch {
            let problem = error.problems.first { $0.keyPath == key || $0.keyPath.hasPrefix("\(key).") }
            return problem.map { "\(key) \($0.found); \($0.expected)" }
        }
    }

    /// A double-quoted YAML scalar in which `$` is literal.
    private static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("${", with: "$${") + "\""
    }
}

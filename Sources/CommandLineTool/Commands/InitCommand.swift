import ArgumentParser
import FoundationEssentials
import Glibc
import JobPlan
import Pipeline

struct InitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Write a job file; asks for values that are not given as options.",
        discussion: """
            On a terminal the command asks for missing values. Otherwise, pass all required
            options. The job file contains no secrets: the database URL stays in the
            environment, and the key in its own file. With --changed-since lastRun, only
            customers mentioned in the app's notifications are requested.

              storeledger init nightly.yaml
              storeledger init changes.yaml --changed-since lastRun
              storeledger init nightly.yaml \\
                --bundle-id com.example.game --app-apple-id 1234567890 \\
                --issuer-id 57246542-96fe-1a63-e053-0824d011072a --key-id 2X9R4HXF34 \\
                --private-key-file AuthKey_2X9R4HXF34.p8 --ids-csv ids.csv
            """
    )

    @Argument(
        help: ArgumentHelp("The job file to write; its name without .yaml becomes the job name.", valueName: "FILE")
    )
    var file: String

    @Option(help: "The app's bundle ID, such as com.example.game.")
    var bundleId: String?

    @Option(help: "The app's Apple ID, a number; see App Information in App Store Connect.")
    var appAppleId: String?

    @Option(help: "Production or Sandbox (default: Production).")
    var environment: String?

    @Option(help: "The issuer ID above the list of keys in App Store Connect.")
    var issuerId: String?

    @Option(help: "The key ID.")
    var keyId: String?

    @Option(help: "The .p8 file from App Store Connect; relative to the job file.")
    var privateKeyFile: String?

    @Option(help: "A CSV file with one transaction ID for each customer; relative to the job file.")
    var idsCsv: String?

    @Option(help: "The column of the CSV file with the IDs (default: transaction_id).")
    var idsColumn: String?

    @Option(help: "Instead of a list: take customers from notifications since this date, or since lastRun.")
    var changedSince: String?

    @Option(help: "A directory for CSV files; without it, none are written.")
    var csvDirectory: String?

    @Option(help: "The share of Apple's limit to use (default: 0.5).")
    var share: String?

    @Flag(help: "Replace the file if it exists.")
    var force = false

    func validate() throws {
        if idsCsv != nil, changedSince != nil {
            throw ValidationError("Use either --ids-csv or --changed-since, not both.")
        }
    }

    func run() async throws {
        try await perform {
            let interview = Interview(isInteractive: isatty(STDIN_FILENO) == 1 && Console.isTerminal)
            let text = jobFile(interview)
            try interview.requireAnswers()
            try check(text)
            try write(text)
            Console.result("wrote \(file)")
            Console.result("Next, with DATABASE_URL set:")
            for command in ["migrate", "doctor", "plan", "run"] { Console.result("  storeledger \(command) \(file)") }
        }
    }

    /// The text of the job file.
    ///
    /// The parts are in the order of the questions.
    private func jobFile(_ interview: Interview) -> String {
        var lines = ["# \(name): storeledger run \(file)", "version: 1", "name: \(name)"]
        lines += ["", "app:"] + app(interview)
        lines += ["", "appStore:"] + appStore(interview)
        lines += ["", "transactionIds:", transactionIds(interview)]
        lines += ["", "streams:"] + AllStreams.types.flatMap { $0.linesOfNewJob }.map { "  \($0)" }
        lines += ["", "# The rest of Apple's limit stays with the app's own servers.", "limits:"]
        lines += ["  share: \(share ?? "0.5")"]
        lines += ["", "output:", "  postgres: {url: \"${DATABASE_URL}\"}"]
        if let csvDirectory {
            let directory = Self.quoted(csvDirectory)
            lines.append("  csv: {directory: \(directory), tables: [transactions, refunds, notifications]}")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func app(_ interview: Interview) -> [String] {
        let bundle = interview.answer("--bundle-id", bundleId, "Bundle ID of the app, such as com.example.game")
        let environment = interview.answer(
            "--environment",
            environment,
            "Production or Sandbox",
            default: "Production"
        )
        let appleId = interview.answer(
            "--app-apple-id",
            appAppleId,
            "Apple ID of the app, a number",
            default: environment == "Sandbox" ? "" : nil
        )
        return ["  bundleId: \(Self.quoted(bundle))"]
            + (appleId.isEmpty ? [] : ["  appAppleId: \(appleId)"])
            + ["  environment: \(Self.quoted(environment))"]
    }

    private func appStore(_ interview: Interview) -> [String] {
        let issuer = interview.answer(
            "--issuer-id",
            issuerId,
            "Issuer ID (App Store Connect, Users and Access, Integrations)"
        )
        let key = interview.answer("--key-id", keyId, "Key ID")
        let keyFile = interview.answer(
            "--private-key-file",
            privateKeyFile,
            "Path of the key file",
            default: "AuthKey_\(key).p8"
        )
        return [
            "  issuerId: \(Self.quoted(issuer))", "  keyId: \(Self.quoted(key))",
            "  privateKeyFile: \(Self.quoted(keyFile))",
        ]
    }

    private func transactionIds(_ interview: Interview) -> String {
        if let changedSince { return "  changedSince: \(Self.quoted(changedSince))" }
        let list = interview.answer(
            "--ids-csv",
            idsCsv,
            "CSV file with one transaction ID for each customer",
            default: "ids.csv"
        )
        return "  csv: {path: \(Self.quoted(list)), column: \(Self.quoted(idsColumn ?? "transaction_id"))}"
    }

    private var name: String {
        let last = file.split(separator: "/").last.map(String.init) ?? file
        for suffix in [".yaml", ".yml"] where last.hasSuffix(suffix) { return String(last.dropLast(suffix.count)) }
        return last
    }

    /// A double-quoted YAML scalar in which `$` is literal.
    private static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("${", with: "$${") + "\""
    }

    /// Checks the text in the same way as `run`, before the file is written.
    private func check(_ text: String) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "storeledger-init-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer {
            // A leftover temporary directory is harmless.
            try? FileManager.default.removeItem(at: folder)
        }
        let draft = folder.appending(path: "job.yaml")
        try Data(text.utf8).write(to: draft)
        do {
            _ = try JobFile.load(path: draft.path, environment: ["DATABASE_URL": "postgresql:///ledger"])
        } catch {
            Console.message("storeledger: " + error.description.replacing(draft.path, with: file))
            throw ExitCode(error.kind.rawValue)
        }
    }

    private func write(_ text: String) throws {
        if !force, FileManager.default.fileExists(atPath: file) {
            Console.message("storeledger: \(file) already exists; name another file, or use --force")
            throw ExitCode(ExitStatus.cannotCreate.rawValue)
        }
        do {
            try Data(text.utf8).write(to: URL(filePath: file), options: force ? .atomic : .withoutOverwriting)
        } catch {
            Console.message("storeledger: \(file) cannot be written: the directory is missing or not writable")
            throw ExitCode(ExitStatus.cannotCreate.rawValue)
        }
    }
}

/// Collects the values of a job file: from options, or by questions on a terminal.
final class Interview {
    private let isInteractive: Bool
    private var missing: [String] = []

    init(isInteractive: Bool) { self.isInteractive = isInteractive }

    /// The value of an option, or the answer to a question.
    ///
    /// - Parameters:
    ///   - option: The name of the option.
    ///   - given: Its value; `nil` if it was not given.
    ///   - question: What to ask for.
    ///   - usual: The value for an empty answer; without it an answer is required.
    /// - Returns: The value; empty if it is required and missing, which ``requireAnswers()`` reports.
    func answer(_ option: String, _ given: String?, _ question: String, default usual: String? = nil) -> String {
        if let given { return given }
        guard isInteractive else {
            if usual == nil { missing.append(option) }
            return usual ?? ""
        }
        while true {
            Console.raw(question + (usual.map { $0.isEmpty ? " (may be empty)" : " [\($0)]" } ?? "") + ": ")
            guard let line = readLine() else {
                missing.append(option)
                return ""
            }
            let answer = line.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            if !answer.isEmpty { return answer }
            if let usual { return usual }
        }
    }

    /// - Throws: `ValidationError` with all required options that have no value.
    func requireAnswers() throws {
        guard !missing.isEmpty else { return }
        throw ValidationError("Without a terminal, these options are required: \(missing.joined(separator: ", ")).")
    }
}

import ArgumentParser
import ExportPipeline
import FoundationEssentials
import Glibc
import JobPlan

struct InitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Write a job file that runs: asks for what the options do not say.",
        discussion: """
            On a terminal it asks; elsewhere every needed option has to be given. The file
            names no secret: the database's address stays in the environment, and the key in
            a file of its own. With --changed-since lastRun only customers whom the app's
            notifications name are asked for.

              storeledger init nightly.yaml
              storeledger init changes.yaml --changed-since lastRun
              storeledger init nightly.yaml \\
                --bundle-id com.example.game --app-apple-id 1234567890 \\
                --issuer-id 57246542-96fe-1a63-e053-0824d011072a --key-id 2X9R4HXF34 \\
                --private-key-file AuthKey_2X9R4HXF34.p8 --ids-csv ids.csv
            """
    )

    @Argument(
        help: ArgumentHelp("Where to write the job file; its name without .yaml becomes the job's.", valueName: "FILE")
    )
    var file: String

    @Option(help: "The app's bundle ID, such as com.example.game.")
    var bundleId: String?

    @Option(help: "The app's Apple ID, a number; App Store Connect has it under App Information.")
    var appAppleId: String?

    @Option(help: "Production or Sandbox; Production unless named.")
    var environment: String?

    @Option(help: "The issuer ID above the list of keys in App Store Connect.")
    var issuerId: String?

    @Option(help: "The key's ID.")
    var keyId: String?

    @Option(help: "The .p8 file that Apple offers once; relative to the job file.")
    var privateKeyFile: String?

    @Option(help: "A CSV file with one transaction ID for each customer; relative to the job file.")
    var idsCsv: String?

    @Option(help: "The column of it; transaction_id unless named.")
    var idsColumn: String?

    @Option(help: "In place of a list: lastRun, or a date, from when on notifications name the customers.")
    var changedSince: String?

    @Option(help: "A folder for CSV files; none are written unless named.")
    var csvDirectory: String?

    @Option(help: "Part of Apple's limit to use; 0.5 unless named.")
    var share: String?

    @Flag(help: "Replace the file if it is there.")
    var force = false

    func validate() throws {
        if idsCsv != nil, changedSince != nil {
            throw ValidationError("--ids-csv and --changed-since exclude each other.")
        }
    }

    func run() async throws {
        try await perform {
            let answers = Interview(asks: isatty(STDIN_FILENO) == 1 && Console.isTerminal)
            let text = try jobFile(answers)
            try answers.complain()
            try check(text)
            try write(text)
            Console.result("wrote \(file)")
            Console.result("Next, with DATABASE_URL set:")
            for command in ["migrate", "doctor", "plan", "run"] { Console.result("  storeledger \(command) \(file)") }
        }
    }

    private func jobFile(_ answers: Interview) throws -> String {
        let bundle = answers.take("--bundle-id", bundleId, "Bundle ID of the app, such as com.example.game")
        let environment = answers.take("--environment", environment, "Production or Sandbox", usually: "Production")
        let appleId = answers.take(
            "--app-apple-id",
            appAppleId,
            "Apple ID of the app, a number",
            usually: environment == "Sandbox" ? "" : nil
        )
        let issuer = answers.take(
            "--issuer-id",
            issuerId,
            "Issuer ID (App Store Connect, Users and Access, Integrations)"
        )
        let key = answers.take("--key-id", keyId, "Key ID")
        let keyFile = answers.take(
            "--private-key-file",
            privateKeyFile,
            "Path of the key file",
            usually: "AuthKey_\(key).p8"
        )
        let source: String
        if let changedSince {
            source = "changedSince: \(Self.quoted(changedSince))"
        } else {
            let list = answers.take(
                "--ids-csv",
                idsCsv,
                "CSV file with one transaction ID for each customer",
                usually: "ids.csv"
            )
            source = "csv: {path: \(Self.quoted(list)), column: \(Self.quoted(idsColumn ?? "transaction_id"))}"
        }
        var lines = [
            "# \(name): storeledger run \(file)",
            "version: 1",
            "name: \(name)",
            "",
            "app:",
            "  bundleId: \(Self.quoted(bundle))",
        ]
        if !appleId.isEmpty { lines.append("  appAppleId: \(appleId)") }
        lines += [
            "  environment: \(Self.quoted(environment))",
            "",
            "appStore:",
            "  issuerId: \(Self.quoted(issuer))",
            "  keyId: \(Self.quoted(key))",
            "  privateKeyFile: \(Self.quoted(keyFile))",
            "",
            "transactionIds:",
            "  \(source)",
            "",
            "streams:",
        ]
        lines += AllStreams.types.flatMap { $0.linesOfNewJob }.map { "  \($0)" }
        lines += [
            "",
            "# The rest of Apple's limit stays with the app's own servers.",
            "limits:",
            "  share: \(share ?? "0.5")",
            "",
            "output:",
            "  postgres: {url: \"${DATABASE_URL}\"}",
        ]
        if let csvDirectory {
            lines.append(
                "  csv: {directory: \(Self.quoted(csvDirectory)), tables: [transactions, refunds, notifications]}"
            )
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private var name: String {
        let last = file.split(separator: "/").last.map(String.init) ?? file
        for suffix in [".yaml", ".yml"] where last.hasSuffix(suffix) { return String(last.dropLast(suffix.count)) }
        return last
    }

    /// A double-quoted YAML scalar in which `$` stands for itself.
    private static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("${", with: "$${") + "\""
    }

    /// Reads it as `run` will, before it is there.
    private func check(_ text: String) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "storeledger-init-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer {
            // In a temporary folder a leftover harms nobody.
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
            Console.message("storeledger: \(file) is there already; name another file, or say --force")
            throw ExitCode(ExitStatus.cannotCreate.rawValue)
        }
        do {
            try Data(text.utf8).write(to: URL(filePath: file), options: force ? .atomic : .withoutOverwriting)
        } catch {
            Console.message("storeledger: \(file) cannot be written: is its folder there, and yours?")
            throw ExitCode(ExitStatus.cannotCreate.rawValue)
        }
    }
}

/// Answers from options or, on a terminal, from whoever sits there.
final class Interview {
    private let asks: Bool
    private var missing: [String] = []

    init(asks: Bool) { self.asks = asks }

    /// - `usually`: What an empty answer means; without it the option is needed.
    func take(_ option: String, _ given: String?, _ question: String, usually: String? = nil) -> String {
        if let given { return given }
        guard asks else {
            if usually == nil { missing.append(option) }
            return usually ?? ""
        }
        while true {
            Console.raw(question + (usually.map { $0.isEmpty ? " (may be empty)" : " [\($0)]" } ?? "") + ": ")
            guard let line = readLine() else {
                missing.append(option)
                return ""
            }
            let answer = line.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            if !answer.isEmpty { return answer }
            if let usually { return usually }
        }
    }

    /// - Throws: ``ValidationError`` that names every option that is needed and missing.
    func complain() throws {
        guard !missing.isEmpty else { return }
        throw ValidationError("Not on a terminal, so these are needed: \(missing.joined(separator: ", ")).")
    }
}

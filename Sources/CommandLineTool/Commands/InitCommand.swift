import ArgumentParser
import Basics
import FoundationEssentials
import JobFiles
import JobSyntax
import Pipeline
import Planning
import Platform

struct InitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Write a job file; asks for values that are not given as options.",
        discussion: """
            On a terminal the command asks for missing values and checks each answer.
            Otherwise, pass all required options. The job file contains no secrets: the
            database URL stays in the environment, and the key in its own file.

            Without --ids-csv, the job takes its customers from the app's notifications,
            which Apple keeps for 180 days.

              storeledger init nightly.yaml
              storeledger init nightly.yaml --ids-csv ids.csv
              storeledger init nightly.yaml \\
                --bundle-id com.example.game --app-apple-id 1234567890 \\
                --issuer-id 57246542-96fe-1a63-e053-0824d011072a --key-id 2X9R4HXF34 \\
                --private-key-file SubscriptionKey_2X9R4HXF34.p8
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

    @Option(
        help:
            "The .p8 file of the In-App Purchase key from App Store Connect; relative to the job file (default: SubscriptionKey_<key ID>.p8)."
    )
    var privateKeyFile: String?

    @Option(help: "A CSV file with one transaction ID for each customer; relative to the job file (default: no list).")
    var idsCsv: String?

    @Option(
        help:
            "The column of the CSV file with the IDs (default: transaction_id, or the first column of a file whose first row is an ID)."
    )
    var idsColumn: String?

    @Option(help: "Without a list: take customers from notifications since this date (default: lastRun).")
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
        let interview = Interview(isInteractive: isatty(STDIN_FILENO) == 1 && Console.isTerminal)
        let text = try interview.asking { try draft(interview).text }
        try interview.requireAnswers()
        try await perform {
            let job = try check(text)
            try write(text)
            warnOfMissingFiles(job)
            Console.result("wrote \(file)")
            Console.result("Next, with DATABASE_URL set:")
            for command in ["migrate", "doctor", "plan", "run"] { Console.result("  storeledger \(command) \(file)") }
        }
    }

    /// Collects the values, in the order of the questions.
    private func draft(_ interview: Interview) throws -> JobDraft {
        var draft = JobDraft(name: name, file: file)
        draft.share = share ?? draft.share
        draft.csvDirectory = csvDirectory
        try interview.ask("Bundle ID of the app, such as com.example.game", "--bundle-id", bundleId) {
            draft.set($0, \.bundleId, "app.bundleId")
        }
        try interview.ask("Production or Sandbox", "--environment", environment, default: "Production") {
            draft.set($0, \.environment, "app.environment")
        }
        let isSandbox = draft.environment == "Sandbox"
        let number = "Apple ID of the app, a number\(isSandbox ? " (may be empty)" : "")"
        try interview.ask(number, "--app-apple-id", appAppleId, default: isSandbox ? "" : nil) {
            draft.set($0, \.appAppleId, "app.appAppleId")
        }
        try interview.ask(
            "Issuer ID (App Store Connect, Users and Access, Integrations, In-App Purchase)",
            "--issuer-id",
            issuerId
        ) {
            draft.set($0, \.issuerId, "appStore.issuerId")
        }
        try interview.ask("Key ID", "--key-id", keyId) { draft.set($0, \.keyId, "appStore.keyId") }
        let usual = "SubscriptionKey_\(draft.keyId).p8"
        try interview.ask("Path of the key file", "--private-key-file", privateKeyFile, default: usual) {
            draft.set(Self.expanded($0), \.privateKeyFile, "appStore.privateKeyFile")
        }
        if let changedSince {
            draft.changedSince = changedSince
        } else {
            let question =
                "CSV file with one transaction ID for each customer (empty: the customers come from notifications)"
            try interview.ask(question, "--ids-csv", idsCsv, default: "") {
                draft.set(Self.expanded($0), \.idsCsv, "transactionIds")
            }
        }
        if let idsColumn {
            draft.idsColumn = idsColumn
        } else if startsWithID(draft.idsCsv) {
            draft.idsColumn = ""
        }
        return draft
    }

    /// The path with the home directory in place of a leading `~`, as a shell writes it.
    private static func expanded(_ path: String) -> String {
        guard path.hasPrefix("~/"), let home = ProcessInfo.processInfo.environment["HOME"], !home.isEmpty else {
            return path
        }
        return home + path.dropFirst()
    }

    /// Whether the first row of the list begins with an ID, so that the list has no header.
    private func startsWithID(_ list: String) -> Bool {
        guard !list.isEmpty else { return false }
        let folder = URL(filePath: file).deletingLastPathComponent()
        let path = list.hasPrefix("/") ? list : folder.appending(path: list).path
        return IDSource.startsWithID(.transaction, in: path)
    }

    private var name: String {
        let last = file.split(separator: "/").last.map(String.init) ?? file
        for suffix in [".yaml", ".yml"] where last.hasSuffix(suffix) { return String(last.dropLast(suffix.count)) }
        return last
    }

    /// Checks the text in the same way as `run`, before the file is written.
    private func check(_ text: String) throws -> JobFile {
        do {
            return try AcceptedJobs.crawl.parse(text, path: file, environment: JobDraft.environment)
        } catch {
            Console.message("storeledger: " + error.description)
            throw ExitCode(error.status.rawValue)
        }
    }

    /// A file can be put in place later, so the job file is written without it.
    private func warnOfMissingFiles(_ job: JobFile) {
        var files = [job.appStore.privateKey.path].compactMap { $0.map { ("the key file", $0) } }
        if case .listed(.csv(let path, _)) = job.transactionIds { files.append(("the ID list", path)) }
        for (name, path) in files where !FileManager.default.fileExists(atPath: path) {
            Console.message(
                "storeledger: warning: \(name) \(path) does not exist; put it there before the next command"
            )
        }
        for list in job.idLists {
            do {
                _ = try list.source.count()
            } catch let error as ListError where !error.isMissing {
                Console.message("storeledger: warning: the ID list cannot be used: \(error)")
            } catch {}
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

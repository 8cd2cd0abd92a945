package import ArgumentParser
import Basics

/// The command line tool: results go to stdout, everything else to stderr.
package struct StoreLedger: AsyncParsableCommand {
    package init() {}

    package static let configuration = CommandConfiguration(
        commandName: "storeledger",
        abstract: "Keeps a verified copy of an app's App Store history in PostgreSQL.",
        discussion: """
            Write a job file:              storeledger init nightly.yaml
            Create the schema:             storeledger migrate nightly.yaml
            Find problems:                 storeledger doctor nightly.yaml
            Estimate requests and time:    storeledger plan nightly.yaml
            Run it, every night:           storeledger run nightly.yaml

            Exit codes: 0 complete, 2 data is missing, 64 usage, 65 bad job or ID list,
            66 missing input, 69 PostgreSQL unreachable, 70 internal error, 73/74 output,
            75 work left (run again), 76 unexpected answers from Apple, 77 access refused,
            78 configuration.
            """,
        version: storeLedgerVersion,
        subcommands: [
            RunCommand.self, PlanCommand.self, StatusCommand.self, CoverageCommand.self, ValidateCommand.self,
            DoctorCommand.self, MigrateCommand.self, ExportCommand.self, ReplayCommand.self,
            EraseCommand.self, RefreshCommand.self, DictionaryCommand.self, RetryCommand.self, InitCommand.self,
            ReportCommand.self, JobsCommand.self, RejectsCommand.self, FailuresCommand.self, ActionsCommand.self,
            ReceiveCommand.self, ReconcileCommand.self, SignCommand.self, RatesCommand.self,
        ]
    )

    private static let commandNames = configuration.subcommands.map { $0.configuration.commandName ?? "" }

    /// - Throws: `ValidationError` for a first word that is no command; the parser would only count the arguments.
    private static func refuseUnknownCommand() throws {
        let commands = commandNames + ["help"]
        guard let word = CommandLine.arguments.dropFirst().first, !word.isEmpty, !word.hasPrefix("-"),
            !commands.contains(word)
        else { return }
        let advice = nearest(to: word, among: commands).map { "Did you mean \($0)?" } ?? "See storeledger --help."
        throw ValidationError("There is no command '\(word)'. \(advice)")
    }

    /// The `application_name` of PostgreSQL sessions, such as `storeledger run nightly-sync`.
    static func applicationName(job: String? = nil) -> String {
        let command = CommandLine.arguments.dropFirst().prefix(1).filter(commandNames.contains)
        return (["storeledger"] + command + [job].compactMap { $0 }).joined(separator: " ")
    }

    package static func main() async {
        ProcessHardening.harden()
        let command: any ParsableCommand
        do {
            try refuseUnknownCommand()
            command = try await asyncParseAsRoot(nil)
        } catch {
            // A timer with a mistyped option would otherwise fail unnoticed every night.
            if exitCode(for: error) == .validationFailure {
                MetricsOptions.writeUsageError(Array(CommandLine.arguments.dropFirst()))
            }
            exit(withError: error)
        }
        do {
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                var command = command
                try command.run()
            }
        } catch {
            exit(withError: error)
        }
    }
}

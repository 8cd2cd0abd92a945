import ArgumentParser
import FoundationEssentials
import JobFiles
import JobSyntax

/// The job files of a command that works on several at once.
struct JobsArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("The job file; several work together.", valueName: "JOB"))
    var paths: [String]

    @Option(help: AppOption.help)
    var app: String?

    /// Reads each file and shows its warnings.
    ///
    /// - Returns: The jobs of all files; with `--app`, only the jobs of that app. At least one.
    /// - Throws: ``AppNotInJob``, errors of the first file that has one.
    func loadEach<Content: JobDescription>(
        _ accepted: AcceptedJobs<Content>,
        warn: (String) -> Void = { Console.message("storeledger: warning: \($0)") }
    ) throws -> [(file: JobArgument, job: Content)] {
        let all = try paths.flatMap { path in
            let file = JobArgument(path: path)
            return try file.loadEach(accepted, warn: warn).map { (file: file, job: $0) }
        }
        return try AppOption.choose(app, from: all, in: paths.joined(separator: ", ")) { $0.job.app.bundleId }
    }
}

extension ActionJob {
    /// Reads and checks the job file of an action.
    ///
    /// Opens no other file and sends nothing.
    ///
    /// - Parameters:
    ///   - path: The path of the file. Messages show it unchanged.
    ///   - environment: The environment variables for `${NAME}`.
    /// - Returns: The job, with every default filled in.
    /// - Throws: One error with all problems of the file.
    package static func load(path: String, environment: [String: String]) throws(JobFileError) -> ActionJob {
        try parse(try JobFileText.read(path: path), path: path, environment: environment)
    }

    /// Checks the text of a job file.
    package static func parse(
        _ text: String,
        path: String,
        environment: [String: String]
    ) throws(JobFileError) -> ActionJob {
        let problems = Problems()
        let reader = JobFileReader(path: path, problems: problems)
        let document = YAMLDocument(text: text, environment: environment, problems: problems)
        let job = document.root().flatMap(reader.actionJob)
        if let error = problems.error(path: path) { throw error }
        guard let job else { preconditionFailure("a job file was refused without a reason") }
        return job
    }
}

/// The job file of a crawl or of an action, for commands that accept both.
package enum AnyJob {
    case crawl(JobFile)
    case action(ActionJob)

    /// Reads and checks a job file of either kind.
    ///
    /// - Throws: One error with all problems of the file.
    package static func load(path: String, environment: [String: String]) throws(JobFileError) -> AnyJob {
        let text = try JobFileText.read(path: path)
        // Problems of the document are reported by the reader of its kind.
        let document = YAMLDocument(text: text, environment: environment, problems: Problems())
        guard let root = document.root(), JobFileReader.isAction(root) else {
            return .crawl(try JobFile.parse(text, path: path, environment: environment))
        }
        return .action(try ActionJob.parse(text, path: path, environment: environment))
    }
}

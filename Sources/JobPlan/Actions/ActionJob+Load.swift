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
        try JobFileReader.parse(text, path: path, environment: environment) { $0.actionJob($1) }
    }
}

/// The job file of a crawl, of an action or of only a receiver, for commands that accept all of them.
package enum AnyJob {
    case crawl(JobFile)
    case action(ActionJob)
    case receiver(ReceiverJob)

    /// Reads and checks a job file of any kind.
    ///
    /// - Throws: One error with all problems of the file.
    package static func load(path: String, environment: [String: String]) throws(JobFileError) -> AnyJob {
        let text = try JobFileText.read(path: path)
        // Problems of the document are reported by the reader of its kind.
        let document = YAMLDocument(text: text, environment: environment, problems: Problems())
        let root = document.root()
        if root.map(JobFileReader.isAction) ?? false {
            return .action(try ActionJob.parse(text, path: path, environment: environment))
        }
        if root.map(JobFileReader.isReceiver) ?? false {
            return .receiver(try ReceiverJob.parse(text, path: path, environment: environment))
        }
        return .crawl(try JobFile.parse(text, path: path, environment: environment))
    }
}

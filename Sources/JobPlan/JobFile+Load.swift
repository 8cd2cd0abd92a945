extension JobFile {
    /// Reads and checks a job file.
    ///
    /// Opens no other file and sends nothing.
    ///
    /// - Parameters:
    ///   - path: The path of the file. Messages show it unchanged.
    ///   - environment: The environment variables for `${NAME}`.
    /// - Returns: The job, with every default filled in.
    /// - Throws: One error with all problems of the file.
    package static func load(path: String, environment: [String: String]) throws(JobFileError) -> JobFile {
        let text = try JobFileText.read(path: path)
        let problems = Problems()
        let reader = JobFileReader(path: path, problems: problems)
        let job = YAMLDocument(text: text, environment: environment, problems: problems).root().flatMap(reader.job)
        if let error = problems.error(path: path) { throw error }
        guard let job else { preconditionFailure("a job file was refused without a reason") }
        return job
    }
}

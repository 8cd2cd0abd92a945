extension JobFile {
    /// Reads and checks a job file; no other file is opened and nothing is sent.
    ///
    /// - Parameters:
    ///   - path: Where the file lies; messages name it exactly so.
    ///   - environment: The variables `${NAME}` takes its values from.
    /// - Returns: The job, with every default filled in.
    /// - Throws: Everything that is wrong with the file at once.
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

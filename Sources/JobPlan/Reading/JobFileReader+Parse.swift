extension JobFileReader {
    /// Checks the text of a job file of one kind.
    ///
    /// - Parameters:
    ///   - text: The content of the file.
    ///   - path: Where the file is or will be; relative paths in it begin in its folder.
    ///   - environment: The environment variables for `${NAME}`.
    ///   - sections: The keys at the top of the file that are read; `nil` for all.
    ///   - read: Reads the job from the document's root; `nil` after it has reported a problem.
    /// - Returns: The job, with every default filled in.
    /// - Throws: One error with all problems of the text.
    static func parse<Job>(
        _ text: String,
        path: String,
        environment: [String: String],
        only sections: [String]? = nil,
        _ read: (JobFileReader, JobNode) -> Job?
    ) throws(JobFileError) -> Job {
        let problems = Problems()
        let reader = JobFileReader(path: path, problems: problems)
        let document = YAMLDocument(text: text, environment: environment, problems: problems)
        let root = document.root(only: sections)
        let job = root.flatMap { read(reader, $0) }
        if let error = problems.error(path: path) { throw error }
        guard let job else { preconditionFailure("a job file was refused without a reason") }
        return job
    }
}

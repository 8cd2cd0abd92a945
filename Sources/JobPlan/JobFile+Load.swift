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
        try parse(try JobFileText.read(path: path), path: path, environment: environment)
    }

    /// Checks the text of a job file.
    ///
    /// - Parameters:
    ///   - text: The content of the file.
    ///   - path: Where the file is or will be; relative paths in it begin in its folder.
    ///   - environment: The environment variables for `${NAME}`.
    /// - Returns: The job, with every default filled in.
    /// - Throws: One error with all problems of the text.
    package static func parse(
        _ text: String,
        path: String,
        environment: [String: String]
    ) throws(JobFileError) -> JobFile {
        try JobFileReader.parse(text, path: path, environment: environment) { $0.job($1) }
    }
}

/// The part of a job file that `sign` needs: the app and its key.
///
/// Every job file with `app` and `appStore` has it. The other sections are not read, so neither they nor the variables that they name
/// need to be complete on the machine that signs.
package struct SignerJob: Equatable, Sendable {
    package let path: String
    package let name: String
    package let app: JobFile.App
    package let appStore: JobFile.AppStore

    /// Reads and checks the part of a job file.
    ///
    /// Opens no other file.
    ///
    /// - Parameters:
    ///   - path: The path of the file. Messages show it unchanged.
    ///   - environment: The environment variables for `${NAME}`.
    /// - Returns: The part, with every default filled in.
    /// - Throws: One error with all problems of the part.
    package static func load(path: String, environment: [String: String]) throws(JobFileError) -> SignerJob {
        try parse(try JobFileText.read(path: path), path: path, environment: environment)
    }

    /// Checks the text of a job file.
    package static func parse(
        _ text: String,
        path: String,
        environment: [String: String]
    ) throws(JobFileError) -> SignerJob {
        let sections = JobFileReader.signerKeys
        return try JobFileReader.parse(text, path: path, environment: environment, only: sections) { $0.signerJob($1) }
    }
}

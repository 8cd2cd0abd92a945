import FoundationEssentials
import JobFiles
import JobSyntax

/// A job file in a separate directory, for one test.
enum JobFileText {
    static let usual = """
        version: 1
        name: nightly-sync
        app:
          bundleId: com.example.game
          appAppleId: 1234567890
          environment: Production
        appStore:
          issuerId: 57246542-96fe-1a63-e053-0824d011072a
          keyId: 2X9R4HXF34
          privateKeyFile: keys/SubscriptionKey.p8
        transactionIds:
          list: ["2000000123456789"]
        streams:
          transactionHistory: {}
        output:
          postgres: {url: postgresql:///ledger}

        """

    /// Writes `bytes` as `job.yaml`, loads it, and names it so in messages.
    static func load(bytes: [UInt8], environment: [String: String] = [:]) throws -> JobFile {
        try inDirectory { directory in
            let path = "\(directory)/job.yaml"
            try Data(bytes).write(to: URL(filePath: path))
            return try AcceptedJobs.crawl.load(path: path, environment: environment)
        }
    }

    static func load(_ text: String, environment: [String: String] = [:]) throws -> JobFile {
        try load(bytes: Array(text.utf8), environment: environment)
    }

    /// The usual job with some of its text exchanged.
    static func load(
        replacing old: String,
        with new: String,
        environment: [String: String] = [:]
    ) throws -> JobFile {
        precondition(usual.contains(old), "the usual job has no \(old)")
        return try load(usual.replacing(old, with: new), environment: environment)
    }

    /// The message about a job, with `job.yaml` for the path; empty when nothing is wrong.
    static func complaint(_ text: String, environment: [String: String] = [:]) throws -> String {
        do {
            _ = try load(text, environment: environment)
            return ""
        } catch let error as JobFileError {
            return error.description.replacing(error.path, with: "job.yaml")
        }
    }

    static func complaint(
        replacing old: String,
        with new: String,
        environment: [String: String] = [:]
    ) throws -> String {
        precondition(usual.contains(old), "the usual job has no \(old)")
        return try complaint(usual.replacing(old, with: new), environment: environment)
    }

    /// The kind of refusal; `nil` when the bytes are a good job.
    static func refusal(bytes: [UInt8], environment: [String: String] = [:]) throws -> JobFileError.Kind? {
        do {
            _ = try load(bytes: bytes, environment: environment)
            return nil
        } catch let error as JobFileError {
            return error.kind
        }
    }

    static func inDirectory<Result>(_ work: (String) throws -> Result) throws -> Result {
        let directory = FileManager.default.temporaryDirectory.appending(path: "jobplan-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer {
            // A leftover directory in a temporary place is harmless.
            try? FileManager.default.removeItem(at: directory)
        }
        return try work(directory.path())
    }
}

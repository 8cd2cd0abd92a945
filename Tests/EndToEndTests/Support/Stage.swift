import FoundationEssentials
import Postgres
import TestSupport
import Testing

/// What one test plays on: a simulated store, a database and a directory, all its own.
struct Stage: Sendable {
    let store: SimulatedStore
    let directory: String
    private let databaseURL: String
    /// No output of any program may have one of these in it.
    private let secrets: [String]

    /// The password in every `DATABASE_URL`; the test's server takes anybody and does not ask for it.
    static let plantedPassword = "planted-pass-word"

    /// A job file's template for the store.
    let job: JobText

    /// A dozen stores and pipelines at once on two cores would each be too slow for a useful result.
    private static let gate = Gate(places: 5)

    static func with<Result>(
        _ options: SimulatedStore.Options = .init(),
        _ body: (Stage) async throws -> Result
    ) async throws -> Result {
        await gate.enter()
        do {
            let result = try await withTemporaryDirectory { directory in
                try await SimulatedStore.serving(options, in: directory + "/store") { store in
                    try await body(try Stage(store: store, directory: directory))
                }
            }
            await gate.leave()
            return result
        } catch {
            await gate.leave()
            throw error
        }
    }

    private init(store: SimulatedStore, directory: String) throws {
        self.store = store
        self.directory = directory
        let conninfo = try TemporaryDatabase.conninfo
        databaseURL = conninfo + (conninfo.contains("?") ? "&" : "?") + "password=\(Self.plantedPassword)"
        job = JobText(storeJob: try String(contentsOfFile: store.directory + "/job.yaml", encoding: .utf8))
        let keyFile = try #require(
            try FileManager.default.contentsOfDirectory(atPath: store.directory).first { $0.hasSuffix(".p8") }
        )
        let key = try String(contentsOfFile: store.directory + "/" + keyFile, encoding: .utf8)
        secrets = [Self.plantedPassword] + key.split(separator: "\n").filter { !$0.hasPrefix("-") }.map(String.init)
    }

    /// Writes a job file into the store's directory, whose files it may name.
    ///
    /// - Returns: Its path.
    @discardableResult
    func write(_ job: JobText) throws -> String {
        try write(job.text, to: "\(job.name).yaml")
    }

    /// Writes a file into the store's directory.
    ///
    /// - Returns: Its path.
    @discardableResult
    func write(_ text: String, to name: String) throws -> String {
        let path = store.directory + "/" + name
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    /// The path of the store's own key.
    var keyFile: String {
        get throws {
            let files = try FileManager.default.contentsOfDirectory(atPath: store.directory)
            return store.directory + "/" + (try #require(files.first { $0.hasSuffix(".p8") }))
        }
    }

    /// What a program run to its end came to.
    struct Outcome: Sendable {
        let code: Int32
        let output: String
        let errors: String

        /// Of stderr, without the lines that say nothing about the command; see ``Stage/lines(of:)``.
        var errorLines: [Substring] { Stage.lines(of: errors) }
    }

    /// The lines of a stderr without the one that every run against a simulator begins with, and without notices of waiting.
    static func lines(of errors: String) -> [Substring] {
        ChildProcess.lines(of: errors).filter { !$0.contains("Rehearsal: requests go to ") }
    }

    /// Runs `storeledger` to its end.
    func storeledger(_ arguments: String..., environment: [String: String] = [:]) async throws -> Outcome {
        try await withStoreledger(arguments, environment: environment) { process in
            let code = await process.wait()
            return Outcome(code: code, output: process.output, errors: process.errors)
        }
    }

    /// Runs `storeledger` during `body`.
    func withStoreledger<Result>(
        _ arguments: [String],
        environment: [String: String] = [:],
        _ body: (ChildProcess) async throws -> Result
    ) async throws -> Result {
        let variables = ["DATABASE_URL": databaseURL].merging(environment) { $1 }
        return try await withChildProcess(Executables.storeledger, arguments, environment: variables) { process in
            let result = try await body(process)
            for secret in secrets {
                #expect(!(process.output + process.errors).contains(secret), "storeledger \(arguments) tells a secret")
            }
            return result
        }
    }

    /// Runs `storeledger` to its end, and measures its memory.
    func measured(_ arguments: [String]) async throws -> MeasuredProgram {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let variables = ["DATABASE_URL": databaseURL, "PATH": path]
        return try await MeasuredProgram.run(Executables.storeledger, arguments, environment: variables)
    }

    /// Runs a job and expects it to be complete.
    @discardableResult
    func run(_ path: String, expecting code: Int32 = 0, _ location: SourceLocation = #_sourceLocation) async throws
        -> Outcome
    {
        let outcome = try await storeledger("run", path, "--progress", "none")
        #expect(outcome.code == code, "\(outcome.errors)\(outcome.output)", sourceLocation: location)
        return outcome
    }

    /// Writes a job file, and makes its schema unless the test's database was copied with it.
    func migrated(_ job: JobText) async throws -> String {
        let path = try write(job)
        if job.schema == "appstore", try await TemporaryDatabase.become(copyOf: .migrated) { return path }
        let made = try await book().count(
            "SELECT count(*) FROM pg_tables WHERE schemaname = '\(job.schema)' AND tablename = 'schema_migrations'"
        )
        if made > 0 { return path }
        let outcome = try await storeledger("migrate", path)
        try #require(outcome.code == 0, "\(outcome.errors)")
        return path
    }

    /// The stage's database server as another role, or another database of it.
    func databaseURL(role: String? = nil, database: String? = nil) -> String {
        var url = databaseURL
        // Of a value that is named twice, libpq takes the last.
        if let role { url += "&user=\(role)" }
        if let database { url += "&dbname=\(database)" }
        return url
    }

    /// Lends the test its own session in the database.
    func book(schema: String = "appstore") throws -> LedgerBook {
        LedgerBook(pool: try TemporaryDatabase.pool(size: 1), schema: schema)
    }
}

extension JobText {
    /// Names another key file.
    mutating func nameKey(_ path: String) { setKey("privateKeyFile: \(path)") }

    /// Takes the key from the environment variable `APPSTORE_PRIVATE_KEY`.
    mutating func takeKeyFromVariable() { setKey("privateKey: \"${APPSTORE_PRIVATE_KEY}\"") }

    private mutating func setKey(_ entry: String) {
        store = store.split(separator: "\n").map { $0.contains("privateKeyFile") ? "  \(entry)" : String($0) }
            .joined(separator: "\n")
    }
}

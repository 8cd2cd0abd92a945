import AppStoreModel
import JobSyntax
import Testing

@testable import JobFiles

/// Job files with `apps`, and the jobs of one command line.
struct ManyAppsTests {
    private static let two = """
        apps:
          - {bundleId: com.example.game, appAppleId: 1234567890}
          - {bundleId: com.example.puzzle, appAppleId: 1234567891}
        environment: Production
        """

    /// A job file with `apps` in place of `app`.
    private func text(_ apps: String = two, ids: String = "list: [\"2000000123456789\"]", output: String = "") -> String
    {
        """
        version: 1
        name: nightly-sync
        \(apps)
        appStore: {issuerId: 57246542-96fe-1a63-e053-0824d011072a, keyId: 2X9R4HXF34, privateKeyFile: key.p8}
        transactionIds: {\(ids)}
        streams: {transactionHistory: {}}
        output:
          postgres: {url: postgresql:///ledger, connections: 12}
        \(output)
        """
    }

    private func load(_ text: String) throws -> [JobFile] {
        try AcceptedJobs.crawl.parseEach(text, path: "/srv/jobs/all.yaml", environment: [:])
    }

    private func problems(_ text: String) -> [String] {
        do {
            _ = try load(text)
            return []
        } catch let error as JobFileError {
            return error.problems.map { "\($0.keyPath) \($0.found)" }
        } catch {
            return ["\(error)"]
        }
    }

    @Test func `a file with apps is one job for each, and its bundle ID stands in paths`() throws {
        let jobs = try load(
            text(
                ids: "csv: {path: \"ids/{bundleId}.csv\"}",
                output: "  csv: {directory: \"/data/{bundleId}/csv\"}"
            )
        )
        #expect(jobs.map(\.app.bundleId) == ["com.example.game", "com.example.puzzle"])
        #expect(jobs.map(\.app.appAppleId) == [1_234_567_890, 1_234_567_891])
        #expect(jobs.allSatisfy { $0.app.environment == .production && $0.name == "nightly-sync" })
        #expect(jobs.map(\.postgres.connections) == [12, 12])
        let paths = jobs.compactMap { job -> String? in
            guard case .csv(let path, _) = job.transactionIds?.list else { return nil }
            return path
        }
        #expect(paths == ["/srv/jobs/ids/com.example.game.csv", "/srv/jobs/ids/com.example.puzzle.csv"])
        #expect(
            jobs.map { $0.output.files[0].directory } == [
                "/data/com.example.game/csv", "/data/com.example.puzzle/csv",
            ]
        )
        #expect(throws: JobFileError.self) {
            try AcceptedJobs.crawl.parse(text(), path: "all.yaml", environment: [:])
        }
    }

    @Test func `a receiver, a signer and a command for any job take apps`() throws {
        let receivers = try AcceptedJobs.receiver.parseEach(
            """
            version: 1
            name: receiver
            \(Self.two)
            receiver: {path: "/apple/{bundleId}"}
            output: {postgres: {url: "postgresql:///ledger"}}
            """,
            path: "r.yaml",
            environment: [:]
        )
        #expect(receivers.map(\.receiver.path) == ["/apple/com.example.game", "/apple/com.example.puzzle"])
        #expect(try AcceptedJobs.signer.parseEach(text(), path: "s.yaml", environment: [:]).count == 2)
        #expect(try AcceptedJobs.any.parseEach(text(), path: "s.yaml", environment: [:]).count == 2)
    }

    @Test(arguments: [
        ("FL1 beside app", two + "\napp: {bundleId: a.b, appAppleId: 1, environment: Production}", "apps and app are"),
        ("FL2 empty", "apps: []\nenvironment: Production", "apps is empty"),
        ("FL2 a text", "apps: com.example.game\nenvironment: Production", "apps is "),
        ("FL2 a list of texts", "apps: [com.example.game]\nenvironment: Production", "apps[0] is "),
        ("FL2 without environment", "apps: [{bundleId: com.example.game, appAppleId: 1}]", "environment is missing"),
        (
            "FL2 without an Apple ID", "apps: [{bundleId: com.example.game}]\nenvironment: Production",
            "apps[0].appAppleId is missing"
        ),
        (
            "FL2 a folder's name", "apps: [{bundleId: \"..\", appAppleId: 1}]\nenvironment: Production",
            "apps[0].bundleId is "
        ),
        ("FL2 no environment", "apps: [{bundleId: a.b, appAppleId: 1}]\nenvironment: Moon", "environment is "),
        (
            "FL2 an environment of one app",
            "apps: [{bundleId: a.b, appAppleId: 1, environment: Sandbox}]\nenvironment: Production",
            "apps[0].environment is not a key"
        ),
        (
            "FL3 one bundle ID",
            "apps: [{bundleId: a.b, appAppleId: 1}, {bundleId: A.b, appAppleId: 2}]\nenvironment: Production",
            "apps[1].bundleId is also apps[0].bundleId"
        ),
        (
            "FL3 one Apple ID",
            "apps: [{bundleId: a.b, appAppleId: 1}, {bundleId: a.c, appAppleId: 1}]\nenvironment: Production",
            "apps[1].appAppleId is also apps[0].appAppleId"
        ),
    ])
    func `apps that are none or twice the same are refused once`(case: String, apps: String, problem: String) {
        let found = problems(text(apps))
        #expect(found.count == 1 && found[0].hasPrefix(problem), "\(found)")
    }

    @Test func `FL5 a directory of several apps needs the bundle ID`() {
        #expect(
            problems(text(output: "  csv: {directory: out}")) == [
                "output.csv.directory is the directory of all apps, which would replace each other's files"
            ]
        )
        let one = "apps: [{bundleId: a.b, appAppleId: 1}]\nenvironment: Production"
        #expect(problems(text(one, output: "  csv: {directory: out}")).isEmpty)
    }

    @Test(arguments: ["0", "2", "1001", "many"])
    func `connections outside of 3 to 1000 are refused`(connections: String) {
        let found = problems(text().replacing("connections: 12", with: "connections: \(connections)"))
        #expect(found.count == 1 && found[0].hasPrefix("output.postgres.connections is "), "\(found)")
    }

    @Test func `FL4 FL5 one command line has each app and each directory once`() throws {
        let file = { (bundleId: String, directory: String, environment: String) in
            let apps = "apps: [{bundleId: \(bundleId), appAppleId: 1}]\nenvironment: \(environment)"
            return try load(text(apps, output: "  csv: {directory: \(directory)}"))[0]
        }
        let one = try file("a.b", "/data/1", "Production")
        try checkTogether([one, file("a.b", "/data/2", "Sandbox"), file("a.c", "/data/3", "Production")])
        #expect(throws: JobsConflict.self) { try checkTogether([one, file("A.b", "/data/2", "Production")]) }
        #expect(throws: JobsConflict.self) { try checkTogether([one, file("a.c", "/data/1", "Production")]) }
    }
}

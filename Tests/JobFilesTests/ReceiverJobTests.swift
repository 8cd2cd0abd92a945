import JobSyntax
import Testing

@testable import JobFiles

/// Job files of a receiver.
struct ReceiverJobTests {
    private static let head = """
        version: 1
        name: receiver
        app: {bundleId: com.example.game, appAppleId: 1234567890, environment: Production}
        output: {postgres: {url: "postgresql:///ledger"}}

        """

    private func parse(_ rest: String) throws -> ReceiverJob {
        try AcceptedJobs.receiver.parse(Self.head + rest, path: "/etc/jobs/receiver.yaml", environment: [:])
    }

    private func problems(_ rest: String) -> [String] {
        do {
            _ = try parse(rest)
            return []
        } catch let error as JobFileError {
            return error.problems.map { "\($0.keyPath) \($0.found); \($0.expected)" }
        } catch {
            return ["\(error)"]
        }
    }

    @Test func `a job with only app, receiver and output needs neither keys nor IDs`() throws {
        let job = try parse("receiver: {}")
        #expect(job.receiver == ReceiverSettings())
        #expect(job.receiver.listen.description == "127.0.0.1:8090")
        #expect(job.receiver.path == "/notifications")
        #expect(job.baseURL == "https://api.storekit.apple.com")
        #expect(job.trustedRoots.isEmpty)
    }

    @Test func `each key of the section is read, and paths begin at the job file`() throws {
        let job = try parse("receiver: {listen: \"[::1]:9000\", path: /apple/v2, sharedSecretFile: secret}")
        #expect(job.receiver.listen == ListenAddress(host: "::1", port: 9_000))
        #expect(job.receiver.listen.description == "[::1]:9000")
        #expect(job.receiver.path == "/apple/v2")
        #expect(job.receiver.sharedSecretFile == "/etc/jobs/secret")
    }

    @Test(arguments: [
        ("receiver: {listen: 8090}", "receiver.listen"), ("receiver: {listen: \"localhost\"}", "receiver.listen"),
        ("receiver: {listen: \"::1:80\"}", "receiver.listen"), ("receiver: {listen: \"a:70000\"}", "receiver.listen"),
        ("receiver: {path: notifications}", "receiver.path"), ("receiver: {path: \"/a?b\"}", "receiver.path"),
        ("receiver: {path: /metrics}", "receiver.path"), ("receiver: {sharedSecret: x}", "receiver.sharedSecret"),
        ("receiver: {}\nlimits: {}", "limits"), ("receiver: {}\ntransactionIds: {list: [\"1\"]}", "transactionIds"),
        ("receiver: {}\nappStore: {trustedRoots: [a.cer]}", "appStore.trustedRoots"),
    ])
    func `a value that is not valid is named`(rest: String, key: String) {
        let found = problems(rest)
        #expect(found.count == 1 && found[0].hasPrefix(key), "\(found)")
    }

    @Test func `the shared secret's path is not shown`() {
        #expect(!problems("receiver: {sharedSecretFile: {a: hunter2}}").joined().contains("hunter2"))
    }

    @Test func `a job without streams cannot run, and the message names the command that can`() {
        #expect {
            try AcceptedJobs.crawl.parse(Self.head + "receiver: {}", path: "r.yaml", environment: [:])
        } throws: { error in
            "\(error)".contains("storeledger receive JOB") && (error as? JobFileError)?.kind == .configuration
        }
    }

    @Test func `the problems of an action's job are reported before it is refused as one`() {
        #expect {
            try AcceptedJobs.receiver.parse(Self.head + "action: {nope: {}}", path: "a.yaml", environment: [:])
        } throws: { error in
            "\(error)".contains("action.nope is not a key") && (error as? JobFileError)?.kind == .invalid
        }
    }

    @Test func `a rehearsal trusts the root of a server on loopback`() throws {
        let job = try parse("receiver: {}\nappStore: {baseURL: \"http://127.0.0.1:9\", trustedRoots: [root.cer]}")
        #expect(job.baseURL == "http://127.0.0.1:9")
        #expect(job.trustedRoots == ["/etc/jobs/root.cer"])
    }
}

import AppStoreModel
import JobSyntax
import Testing

@testable import JobFiles

/// The key `receiver.forward`.
struct ForwardTests {
    private func parse(_ receiver: String, _ environment: [String: String] = [:]) throws -> ReceiverJob {
        let text = """
            version: 1
            name: receiver
            app: {bundleId: com.example.game, appAppleId: 1234567890, environment: Production}
            output: {postgres: {url: "postgresql:///ledger"}}
            receiver: \(receiver)
            """
        return try AcceptedJobs.receiver.parse(text, path: "/etc/jobs/receiver.yaml", environment: environment)
    }

    private func problems(_ forward: String, _ others: String = "") -> [String] {
        do {
            _ = try parse("{\(others)forward: \(forward)}")
            return []
        } catch let error as JobFileError {
            return error.problems.map { "\($0.keyPath) \($0.found); \($0.expected)" }
        } catch {
            return ["\(error)"]
        }
    }

    @Test func `each URL is read, with its environment, and variables stand in it`() throws {
        let urls =
            "[{url: \"https://Staging.example.com/n?token=${TOKEN}\", environment: Sandbox}, {url: \"http://[::1]:1/\"}]"
        let forwards = try parse("{forward: \(urls)}", ["TOKEN": "hunter2"]).receiver.forwards
        #expect(forwards.map(\.environment) == [.sandbox, nil])
        #expect(forwards.map { $0.url.reveal() } == ["https://Staging.example.com/n?token=hunter2", "http://[::1]:1/"])
    }

    @Test func `the query, which can be a secret, is in no name`() throws {
        let forward = try #require(
            Forward.accepts("https://A.example/Path?hunter2") ? WebhookURL("https://A.example/Path?hunter2") : nil
        )
        #expect(Forward(url: forward, environment: nil).name == "https://a.example/Path")
        #expect(!"\(Forward(url: forward, environment: nil))".contains("hunter2"))
    }

    @Test(arguments: [
        "staging.example.com", "https://", "ftp://a.example/", "https://user:hunter2@a.example/",
        "https://a.example/\\\\",
    ])
    func `FW4 a forward URL that is none is refused and not shown`(url: String) {
        let found = problems("[{url: \"\(url)\"}]")
        #expect(found.count == 1 && found[0].hasPrefix("receiver.forward[0].url"), "\(found)")
        #expect(!found.joined().contains("hunter2"))
    }

    @Test func `FW5 a forward URL with http is refused, except on loopback`() {
        #expect(problems("[{url: \"http://a.example/\"}]").count == 1)
        #expect(problems("[{url: \"http://127.0.0.1:9/\"}]").isEmpty)
    }

    @Test func `FW6 a forward URL twice is refused, also with another query or environment`() {
        let found = problems(
            "[{url: \"https://a.example/n?a\"}, {url: \"https://A.example/n?b\", environment: Sandbox}]"
        )
        #expect(found.count == 1 && found[0].contains("twice"), "\(found)")
    }

    @Test func `FW7 the receiver's own URL is refused`() {
        #expect(problems("[{url: \"http://127.0.0.1:8090/notifications\"}]").count == 1)
        #expect(problems("[{url: \"http://127.0.0.1:8091/notifications\"}]").isEmpty)
        #expect(problems("[{url: \"http://[::1]:7/a\"}]", "listen: \"[::1]:7\", path: /a, ").count == 1)
    }

    @Test(arguments: [
        "[]", "https://a.example/", "[{environment: Sandbox}]", "[{url: \"https://a.example/\", environment: Xcode}]",
    ])
    func `another form is refused`(forward: String) {
        #expect(problems(forward).count == 1, "\(problems(forward))")
    }

    @Test func `more URLs than the limit are refused`() {
        let urls = (0...Forward.most).map { "{url: \"https://a.example/\($0)\"}" }.joined(separator: ", ")
        #expect(problems("[\(urls)]").count == 1)
    }
}

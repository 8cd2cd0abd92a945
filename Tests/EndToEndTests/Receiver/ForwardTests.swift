import Dispatch
import FoundationEssentials
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import SignedData

/// `storeledger receive` with `receiver.forward`: real servers and kills.
@Suite(.migratedDatabase)
struct ForwardTests {
    /// A server that hangs, or answers with a status, until the test lets it work.
    private final class Gate: Sendable {
        private let status: Mutex<Int>
        private let opened = DispatchSemaphore(value: 0)

        /// - Parameter status: 0 for a server that does not answer.
        init(_ status: Int) { self.status = Mutex(status) }

        func answer() -> WebhookServer.Answer {
            let now = status.withLock(\.self)
            guard now == 0 else {
                return WebhookServer.Answer(now, now == 302 ? ["Location: http://127.0.0.1:9/"] : [])
            }
            opened.wait()
            opened.signal()
            return WebhookServer.Answer(500)
        }

        func open() {
            status.withLock { $0 = 204 }
            opened.signal()
        }
    }

    /// Posts three notifications for each of two customers while the server does not work, and then lets it work.
    ///
    /// - Parameters:
    ///   - failure: The reason that `status` shows; `nil` to kill the receiver before an attempt has ended.
    private func recover(from gate: Gate, showing failure: String?) async throws {
        let server = try WebhookServer { _, _ in gate.answer() }
        defer {
            gate.open()
            server.stop()
        }
        let url = "http://127.0.0.1:\(server.port)/copy"
        let forward = "{listen: \"127.0.0.1:0\", forward: [{url: \"\(url)?hunter2\"}]}"
        try await ReceiverStage.with(receiver: forward) { stage in
            let book = try stage.book()
            let bodies = try (1...6).map { try body($0, of: "72000000000\($0 % 2)", stage) }
            try await stage.receiving { receiver in
                for body in bodies { try await receiver.expect(200, body) }
                // Every answer came, and the server has taken no notification.
                try await poll { !server.requests.isEmpty }
                #expect(try await book.count("SELECT count(*) FROM forwards") == bodies.count)
                try await stage.normalized(book)
                let left = "storeledger_receiver_forward_undelivered{"
                let metrics = try await receiver.metrics().split(separator: "\n")
                #expect(metrics.contains { $0.hasPrefix(left) && $0.hasSuffix(" 6") }, "\(metrics)")
                if let failure {
                    try await expectStatus(of: stage, showing: failure, at: url)
                    gate.open()
                    try await poll { try await book.count("SELECT count(*) FROM forwards") == 0 }
                } else {
                    receiver.process.signal(SIGKILL)
                    _ = await receiver.process.wait()
                }
                #expect(!receiver.process.errors.contains("hunter2"), "\(receiver.process.errors)")
            }
            if failure == nil {
                gate.open()
                try await stage.receiving { receiver in
                    try await poll { try await book.count("SELECT count(*) FROM forwards") == 0 }
                    receiver.process.signal(SIGTERM)
                    #expect(await receiver.process.wait() == 0)
                }
            }
            expectInOrder(server.requests, bodies)
        }
    }

    /// A notification about a customer's purchase, with white space that no program would write again.
    private func body(_ number: Int, of customer: String, _ stage: ReceiverStage) throws -> String {
        let id = "\"\(customer)\""
        let ids: KeyValuePairs<String, String?> = ["transactionId": id, "originalTransactionId": id]
        let transaction = try stage.scene.signed(ids)
        return " " + (try stage.notification(number, data: ["signedTransactionInfo": "\"\(transaction)\""])) + "\n"
    }

    private func expectStatus(of stage: ReceiverStage, showing failure: String, at url: String) async throws {
        try await poll {
            let text = try await stage.storeledger("status", stage.job).output
            #expect(!text.contains("hunter2"))
            return text.contains("6 notifications not delivered to \(url), the oldest for")
                && text.contains("the last failure: \(failure)")
        }
    }

    /// Expects that every body came as it was posted, and of each customer the first time in order.
    private func expectInOrder(_ requests: [WebhookServer.Request], _ bodies: [String]) {
        #expect(Set(requests.map(\.body)) == Set(bodies))
        for request in requests {
            #expect(request.head.hasPrefix("POST /copy?hunter2 HTTP/1.1"))
            #expect(request.head.lowercased().contains("content-type: application/json"))
        }
        for parity in 0...1 {
            let expected = bodies.indices.filter { $0 % 2 == parity }.map { bodies[$0] }
            let came = requests.map(\.body).filter { expected.contains($0) }
            var order: [String] = []
            for body in came where order.last != body { order.append(body) }
            #expect(order == expected, "the customer's notifications overtook each other")
        }
    }

    @Test func `FW1 a forward URL that hangs delays no answer, and gets everything in order after a kill`() async throws
    {
        try await recover(from: Gate(0), showing: nil)
    }

    @Test func `FW2 a forward URL that redirects is not followed, and gets everything in order when it no longer does`()
        async throws
    {
        try await recover(from: Gate(302), showing: "HTTP status 302: redirects are not followed")
    }

    @Test func `FW3 a forward URL that answers 500 gets everything in order when it works again`()
        async throws
    {
        try await recover(from: Gate(500), showing: "HTTP status 500")
    }

    @Test func `only stored notifications of version 2 and of the URL's environment are forwarded`() async throws {
        let server = try WebhookServer()
        defer { server.stop() }
        let all = "http://127.0.0.1:\(server.port)/copy?hunter2"
        let sandbox = "{url: \"http://127.0.0.1:\(server.port)/sandbox\", environment: Sandbox}"
        let receiver =
            "{listen: \"127.0.0.1:0\", sharedSecretFile: shared-secret, forward: [{url: \"\(all)\"}, \(sandbox)]}"
        try await ReceiverStage.with(receiver: receiver) { stage in
            let foreign = try RecordStage.scenes(1)[0].authority.issuer
            try await stage.receiving { receiver in
                try await receiver.expect(503, try stage.notification(1, by: foreign))
                try await receiver.expect(200, ReceiverStage.unsigned())
                let body = try stage.notification(2)
                try await receiver.expect(200, body)
                try await receiver.expect(200, body)
                try await poll { try await stage.book().count("SELECT count(*) FROM forwards") == 0 }
                expectInOrder(server.requests, [body])
                #expect(server.requests.count == 1)
                #expect(try await receiver.metrics().contains("result=\"delivered\"} 1\n"))
            }
        }
    }
}

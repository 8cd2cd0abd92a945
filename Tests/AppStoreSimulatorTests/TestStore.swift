import AppStoreModel
import Foundation
import SignedData
import StrictJSON
import Synchronization
import TestSupport

@testable import AppStoreSimulator

/// A running simulated App Store with its own client, in a temporary directory.
struct TestStore {
    let store: SimulatedAppStore
    let app: SimulatedApp
    let clock: ManualClock
    let verifier: JWSVerifier

    /// Starts a store, calls `body` with it, and stops it afterwards.
    static func run(
        customers: Int = 20,
        transactionsPerCustomer: Int = 10,
        clock: ManualClock = ManualClock(),
        routes: [Route] = Route.all,
        configure: (inout SimulatorConfiguration) -> Void = { _ in },
        _ body: (TestStore) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.path + "/store-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: directory) }  // Only cleans up.
        var configuration = SimulatorConfiguration(directory: directory)
        configuration.customers = customers
        configuration.transactionsPerCustomer = transactionsPerCustomer
        configuration.anchor = "2026-10-01T00:00:00Z"
        configuration.rateLimit = .none
        configure(&configuration)
        try await run(configuration, clock: clock, routes: routes, body)
    }

    static func run(
        _ configuration: SimulatorConfiguration,
        clock: ManualClock = ManualClock(),
        routes: [Route] = Route.all,
        _ body: (TestStore) async throws -> Void
    ) async throws {
        let store = try await SimulatedAppStore.start(configuration, routes: routes, now: { clock.now })
        let app = SimulatedApp(environment: configuration.environment.model, seed: configuration.seed)
        do {
            let root = try Data(contentsOf: URL(filePath: configuration.directory + "/root.cer"))
            let verifier = try JWSVerifier(trustedRoots: [Array(root)])
            try await body(TestStore(store: store, app: app, clock: clock, verifier: verifier))
        } catch {
            try await store.stop()
            throw error
        }
        try await store.stop()
    }

    var ids: [String] {
        get throws {
            try String(contentsOfFile: store.directory + "/ids.csv", encoding: .utf8)
                .split(separator: "\n").dropFirst().map(String.init)
        }
    }

    var orderIds: [String] {
        get throws {
            try String(contentsOfFile: store.directory + "/orders.csv", encoding: .utf8)
                .split(separator: "\n").dropFirst().map(String.init)
        }
    }

    var key: SigningKey {
        get throws { try SigningKey.load(file: store.directory + "/SubscriptionKey_\(app.keyId).p8") }
    }

    func token() throws -> String {
        try BearerTokenSigner(key: key, keyId: app.keyId, issuerId: app.issuerId, bundleId: app.bundleId)
            .token(at: clock.now).text.reveal()
    }

    /// - `query`: Names and values; this function percent-encodes them.
    func get(_ path: String, _ query: [(String, String)] = [], token: String?? = .none) async throws -> ServerAnswer {
        try await send("GET", path, query, body: nil, token: token)
    }

    func post(_ path: String, _ query: [(String, String)] = [], body: String) async throws -> ServerAnswer {
        try await send("POST", path, query, body: body, token: .none)
    }

    func put(_ path: String, body: String) async throws -> ServerAnswer {
        try await send("PUT", path, [], body: body, token: .none)
    }

    func put(_ path: String, bytes: [UInt8]) async throws -> ServerAnswer {
        let head = """
            PUT \(path) HTTP/1.1\r
            Host: 127.0.0.1:\(store.port)\r
            Connection: close\r
            Content-Type: image/png\r
            Content-Length: \(bytes.count)\r
            Authorization: Bearer \(try token())\r
            \r

            """
        let answer = try await LoopbackHTTP(port: store.port).send(bytes: Array(head.utf8) + bytes)
        return ServerAnswer(status: answer.status, contentType: nil, retryAfter: nil, body: answer.body)
    }

    func delete(_ path: String) async throws -> ServerAnswer {
        try await send("DELETE", path, [], body: nil, token: .none)
    }

    private func send(
        _ method: String,
        _ path: String,
        _ query: [(String, String)],
        body: String?,
        token: String??
    ) async throws -> ServerAnswer {
        let plain = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~"))
        let text = query.map { "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: plain) ?? $1)" }
            .joined(separator: "&")
        let bearer: String?
        switch token {
        case .none: bearer = try self.token()
        case .some(let given): bearer = given
        }
        let answer = try await LoopbackHTTP(port: store.port).send(
            method,
            path + (text.isEmpty ? "" : "?" + text),
            body ?? "",
            headers: bearer.map { [("Authorization", "Bearer " + $0)] } ?? []
        )
        return ServerAnswer(
            status: answer.status,
            contentType: answer.headers["content-type"],
            retryAfter: answer.headers["retry-after"],
            body: answer.body
        )
    }
}

struct ServerAnswer {
    let status: Int
    let contentType: String?
    let retryAfter: String?
    let body: [UInt8]

    var json: JSONObject {
        get throws { try StrictJSON.parseObject(body) }
    }

    /// Apple's error code, if the body has one.
    var errorCode: Int64? {
        ErrorPayload.decode(body)?.code
    }
}

/// A clock that only the test moves; it starts an hour after the tests' anchor.
final class ManualClock: Sendable {
    static let anchor = UnixMilliseconds(rawValue: 1_790_812_800_000)
    private let moment: Mutex<UnixMilliseconds>

    init(_ start: UnixMilliseconds = ManualClock.anchor + .seconds(3_600)) {
        moment = Mutex(start)
    }

    var now: UnixMilliseconds { moment.withLock { $0 } }

    func advance(by duration: Duration) {
        moment.withLock { $0 = $0 + duration }
    }
}

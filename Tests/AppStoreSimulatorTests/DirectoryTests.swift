import AppStoreModel
import Foundation
import Streams
import StrictJSON
import Testing

@testable import AppStoreSimulator

struct DirectoryTests {
    @Test func `everything a client needs is written, whole and with the right permissions`() async throws {
        try await TestStore.run(customers: 3, configure: { $0.windowSeconds = 60 }) { store in
            let path = store.store.directory
            func mode(_ name: String) throws -> Int? {
                try FileManager.default.attributesOfItem(atPath: path + name)[.posixPermissions] as? Int
            }
            #expect(try mode("") == 0o700)
            #expect(try mode("/SubscriptionKey_\(store.app.keyId).p8") == 0o600)
            #expect(try mode("/ca.pem") == 0o600)
            #expect(try store.ids.count == 3)
            #expect(try String(contentsOfFile: path + "/orders.csv", encoding: .utf8).hasPrefix("order_id\nM"))
            let receipts = try String(contentsOfFile: path + "/receipts.csv", encoding: .utf8).split(separator: "\n")
            #expect(receipts[0] == "receipt" && receipts.count == 6 && receipts.last?.hasPrefix("MIAG") == true)
            let ready = try StrictJSON.parseObject(Array(Data(contentsOf: URL(filePath: path + "/ready.json"))))
            #expect(ready["baseURL"]?.string == store.store.baseURL)
            #expect(ready["port"] == .number(JSONNumber(text: "\(store.store.port)")))
            let job = try String(contentsOfFile: path + "/job.yaml", encoding: .utf8)
            #expect(job.contains("baseURL: \(store.store.baseURL)\n") && job.contains("windowSeconds: 60\n"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: path).allSatisfy { !$0.hasSuffix(".new") })
        }
    }

    @Test func `a restarted simulator is the same App Store`() async throws {
        let directory = FileManager.default.temporaryDirectory.path + "/store-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: directory) }  // Only cleans up.
        var configuration = SimulatorConfiguration(directory: directory)
        configuration.customers = 1
        configuration.transactionsPerCustomer = 30
        // Without an anchor, so that the directory keeps the day of its creation.
        let clock = ManualClock()
        var revision = ""
        var root = Data()
        var world: [String: JSONValue] = [:]
        try await TestStore.run(configuration, clock: clock) { store in
            _ = try await store.post("/simulator/advance", body: "{\"changes\":3}")
            let path = TestStore.history(try #require(try store.ids.first))
            revision = try #require(
                try await store.pages(path, decode: TransactionHistory.page).last?.cursor
            )
            root = try Data(contentsOf: URL(filePath: directory + "/root.cer"))
            world = try await store.world("transaction")
        }
        clock.advance(by: .seconds(3 * 86_400))
        try await TestStore.run(configuration, clock: clock) { store in
            let path = TestStore.history(try #require(try store.ids.first))
            let page = try TransactionHistory.page(try await store.get(path, [("revision", revision)]).body)
            #expect(page.records.isEmpty)
            #expect(try Data(contentsOf: URL(filePath: directory + "/root.cer")) == root)
            #expect(try await store.world("transaction") == world)
            _ = try await store.post("/simulator/advance", body: "{\"days\":1}")
            let news = try TransactionHistory.page(try await store.get(path, [("revision", revision)]).body)
            #expect(news.records.count == 1)
        }
    }

    @Test func `a port in use and an invalid option are errors with a reason`() async throws {
        try await TestStore.run(customers: 1) { store in
            var configuration = SimulatorConfiguration(directory: store.store.directory + "/second")
            configuration.port = store.store.port
            let taken = await #expect(throws: SimulatorError.self) { try await SimulatedAppStore.start(configuration) }
            #expect(taken?.reason == .port)
            configuration.customers = 0
            let option = await #expect(throws: SimulatorError.self) { try await SimulatedAppStore.start(configuration) }
            #expect(option?.reason == .option)
            #expect(option?.description == "--customers is 0; it must be from 1 to 1000000.")
        }
    }
}

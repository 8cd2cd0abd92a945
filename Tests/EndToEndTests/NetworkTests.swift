import FoundationEssentials
import TestSupport
import Testing

/// A run whose way to Apple is bad.
@Suite(.migratedDatabase)
struct NetworkTests {
    /// Runs a job through a proxy, and expects all that the store has, in as many counted requests as came.
    private func expectEverything(
        _ options: SimulatedStore.Options,
        draw: @escaping @Sendable (_ request: Int, _ ofConnection: Int) -> ToxicProxy.Toxic?
    ) async throws -> (drawn: [ToxicProxy.Toxic: Int], arrivals: Int) {
        try await Stage.with(options) { stage in
            let direct = try #require(stage.job.store.split(separator: "\n").first { $0.contains("baseURL") })
            let port = try #require(direct.split(separator: ":").last.flatMap { Int($0) })
            let proxy = try ToxicProxy(to: port, draw: draw)
            defer { proxy.stop() }
            var job = stage.job
            job.store = job.store.replacing(direct, with: "  baseURL: http://127.0.0.1:\(proxy.port)")
            try await stage.run(try await stage.migrated(job))

            let book = try stage.book()
            expectNone(try await book.differences(from: stage.store.world()))
            expectNone(try await book.column("SELECT item_key FROM crawl_items WHERE state <> 'done'"))
            #expect(try await book.count("SELECT sum(deferrals) FROM crawl_items") == 0)
            // An uncounted request would exceed the app's limit.
            let arrivals = try await stage.store.requests().total
            #expect(try await book.count("SELECT sum(granted) FROM rate_buckets") >= arrivals)
            #expect(try await book.count("SELECT sum(request_count) FROM crawl_items") >= arrivals)
            return (proxy.drawn, arrivals)
        }
    }

    @Test func `H42 a thousand requests, and each toxic in one of a hundred, cost no record`() async throws {
        let toxics: [ToxicProxy.Toxic] = [
            .latency, .reset, .slicer, .limitData, .timeout, .slowClose, .bandwidth, .close,
        ]
        let (drawn, arrivals) = try await expectEverything(.init(customers: 480, transactionsPerCustomer: 3)) {
            request,
            _ in
            // A fixed one of each hundred, so that every toxic has its turn.
            let place = (request * 37) % 100
            return place < toxics.count ? toxics[place] : nil
        }
        #expect(arrivals >= 960)
        for toxic in toxics { #expect(drawn[toxic, default: 0] >= 9, "\(toxic)") }
        print("H42: \(arrivals) requests, \(drawn.values.reduce(0, +)) of them met a toxic")
    }

    @Test func `H41 a server that ends every connection at its second request costs no record and no attempt`()
        async throws
    {
        let (drawn, arrivals) = try await expectEverything(.init(customers: 60, transactionsPerCustomer: 25)) {
            _,
            ofConnection in ofConnection > 1 ? .close : nil
        }
        #expect(drawn[.close, default: 0] > 20)
        print("H41: \(arrivals) requests, \(drawn[.close, default: 0]) of them on a connection that ended under them")
    }
}

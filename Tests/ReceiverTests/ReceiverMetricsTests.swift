import Ledger
import Testing

@testable import Receiver

struct ReceiverMetricsTests {
    @Test func `durations are counted up to each bound`() {
        var histogram = Histogram()
        for seconds in [0.001, 0.005, 0.03, 7] { histogram.add(seconds) }
        #expect(histogram.cumulative.map(\.count) == [2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 4])
        #expect(histogram.cumulative.last?.bound == "+Inf")
        #expect(histogram.count == 4)
    }

    @Test func `a request over the limit is refused, and the place of an answered one is free again`() {
        let metrics = ReceiverMetrics()
        #expect(metrics.beginRequest(atMost: 1))
        #expect(!metrics.beginRequest(atMost: 1))
        metrics.endRequest()
        #expect(metrics.beginRequest(atMost: 1))
    }

    @Test func `the age of the oldest notification is left out while the database does not answer`() {
        let metrics = ReceiverMetrics()
        let name = "storeledger_receiver_oldest_pending_seconds "
        #expect(!metrics.text(oldestPending: nil).contains(name))
        #expect(metrics.text(oldestPending: .some(nil)).contains(name + "0\n"))
        #expect(metrics.text(oldestPending: .seconds(90)).contains(name + "90\n"))
    }

    @Test func `every line has Prometheus's form`() throws {
        let metrics = ReceiverMetrics()
        metrics.refuse("chain")
        metrics.answer(.new, after: .milliseconds(3))
        for line in metrics.text(oldestPending: .seconds(1)).split(separator: "\n") {
            let isComment = line.hasPrefix("# HELP ") || line.hasPrefix("# TYPE ")
            #expect(isComment || line.wholeMatch(of: /[a-z_]+(\{[a-z]+="[^"]*"\})? [0-9.e-]+/) != nil, "\(line)")
        }
    }
}

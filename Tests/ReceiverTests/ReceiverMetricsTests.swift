import Inbox
import Testing

@testable import Receiver

struct ReceiverMetricsTests {
    private static let apps = [#"app="a",environment="Production""#, #"app="b",environment="Sandbox""#]

    @Test func `durations are counted up to each bound`() {
        var histogram = Histogram()
        for seconds in [0.001, 0.005, 0.03, 7] { histogram.add(seconds) }
        #expect(histogram.cumulative.map(\.count) == [2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 4])
        #expect(histogram.cumulative.last?.bound == "+Inf")
        #expect(histogram.count == 4)
    }

    @Test func `a request over the limit is refused, and the place of an answered one is free again`() {
        let metrics = ReceiverMetrics(apps: Self.apps)
        #expect(metrics.beginRequest(atMost: 1))
        #expect(!metrics.beginRequest(atMost: 1))
        metrics.endRequest()
        #expect(metrics.beginRequest(atMost: 1))
    }

    @Test func `the age of the oldest notification is left out while the database does not answer`() {
        let metrics = ReceiverMetrics(apps: Self.apps)
        let name = "storeledger_receiver_oldest_pending_seconds{"
        #expect(!metrics.text(oldestPending: nil).contains(name))
        let page = metrics.text(oldestPending: [Self.apps[0]: .zero, Self.apps[1]: .seconds(90)])
        #expect(page.contains("\(name)\(Self.apps[0])} 0\n") && page.contains("\(name)\(Self.apps[1])} 90\n"))
    }

    @Test func `each app has its counts, from zero`() {
        let metrics = ReceiverMetrics(apps: Self.apps)
        metrics.answer(.known, of: Self.apps[1], after: .milliseconds(3))
        metrics.normalize(4, of: Self.apps[0])
        let page = metrics.text(oldestPending: nil)
        let name = "storeledger_receiver_notifications_total"
        #expect(page.contains("\(name){\(Self.apps[0]),result=\"known\"} 0\n"))
        #expect(page.contains("\(name){\(Self.apps[1]),result=\"known\"} 1\n"))
        #expect(page.contains("storeledger_receiver_normalised_total{\(Self.apps[0])} 4\n"))
    }

    @Test func `every line has Prometheus's form`() throws {
        let metrics = ReceiverMetrics(apps: Self.apps)
        metrics.refuse("chain")
        metrics.answer(.new, of: Self.apps[0], after: .milliseconds(3))
        for line in metrics.text(oldestPending: [Self.apps[0]: .seconds(1)]).split(separator: "\n") {
            let isComment = line.hasPrefix("# HELP ") || line.hasPrefix("# TYPE ")
            let isSample = line.wholeMatch(of: /[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.e-]+/) != nil
            #expect(isComment || isSample, "\(line)")
        }
    }
}

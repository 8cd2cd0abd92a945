import Testing

@testable import Receiver

/// How many notifications may be posted to one URL, and when a failed one is posted again.
struct ForwardPaceTests {
    private static let failure = ForwardOutcome.unavailable("HTTP status 500")

    @Test func `a failed notification is posted again after delays that double up to an hour`() {
        let delays = (1...14).map { ForwardPace.delay(after: $0).components.seconds }
        #expect(delays == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 3_600, 3_600])
        #expect(ForwardPace.delay(after: .max) == .seconds(3_600))
    }

    @Test func `at most eight requests are in flight, and a place is free again after each`() {
        var pace = ForwardPace()
        #expect(pace.reserve(at: .zero) == 8)
        #expect(pace.reserve(at: .zero) == 0)
        pace.release(5)
        #expect(pace.reserve(at: .zero) == 5)
        pace.end(.delivered, at: .zero)
        #expect(pace.reserve(at: .zero) == 1)
    }

    @Test
    func `a URL that fails for a day gets one request after each pause of up to a minute, and all again when it works`()
    {
        var pace = ForwardPace()
        _ = pace.reserve(at: .zero)
        for _ in 1...8 { pace.end(Self.failure, at: .zero) }
        var now = Duration.zero
        var attempts = 0
        while now < .seconds(86_400) {
            now += .seconds(1)
            let places = pace.reserve(at: now)
            #expect(places <= 1)
            guard places == 1 else { continue }
            attempts += 1
            #expect(pace.reserve(at: now) == 0)
            pace.end(Self.failure, at: now)
        }
        #expect(attempts > 1_400 && attempts < 1_500)
        #expect(pace.reserve(at: now + .seconds(60)) == 1)
        pace.end(.delivered, at: now + .seconds(60))
        #expect(pace.reserve(at: now + .seconds(60)) == 8)
    }

    @Test func `notifications that the server refuses do not stop the others`() {
        var pace = ForwardPace()
        for _ in 1...20 {
            #expect(pace.reserve(at: .zero) == 8)
            for _ in 1...8 { pace.end(.refused("HTTP status 400"), at: .zero) }
        }
    }

    @Test func `a 2xx is a delivery, and nothing else is`() {
        #expect([200, 201, 204, 299].allSatisfy { ForwardPoster.outcome(of: $0) == .delivered })
        for status in [100, 301, 302, 307, 400, 401, 404, 408, 410, 429, 500, 503] {
            #expect(ForwardPoster.outcome(of: status).failure?.contains("\(status)") == true)
        }
        #expect(ForwardPoster.outcome(of: 302).failure == "HTTP status 302: redirects are not followed")
    }
}

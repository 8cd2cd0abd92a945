import AppStoreModel
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
        #expect(pace.reserve(for: "a", at: .zero) == 8)
        #expect(pace.reserve(for: "a", at: .zero) == 0)
        pace.release(5, of: "a")
        #expect(pace.reserve(for: "a", at: .zero) == 5)
        pace.end(.delivered, of: "a", at: .zero)
        #expect(pace.reserve(for: "a", at: .zero) == 1)
    }

    @Test
    func `a URL that fails for a day gets one request after each pause of up to a minute, and all again when it works`()
    {
        var pace = ForwardPace()
        _ = pace.reserve(for: "a", at: .zero)
        for _ in 1...8 { pace.end(Self.failure, of: "a", at: .zero) }
        var now = Duration.zero
        var attempts = 0
        while now < .seconds(86_400) {
            now += .seconds(1)
            let places = pace.reserve(for: "a", at: now)
            #expect(places <= 1)
            guard places == 1 else { continue }
            attempts += 1
            #expect(pace.reserve(for: "a", at: now) == 0)
            pace.end(Self.failure, of: "a", at: now)
        }
        #expect(attempts > 1_400 && attempts < 1_500)
        #expect(pace.reserve(for: "a", at: now + .seconds(60)) == 1)
        pace.end(.delivered, of: "a", at: now + .seconds(60))
        #expect(pace.reserve(for: "a", at: now + .seconds(60)) == 8)
    }

    @Test func `FW8 an app that always has notifications leaves a place of the URL to each other app`() {
        var pace = ForwardPace(apps: 3)
        #expect(pace.reserve(for: "busy", at: .zero) == 6)
        for _ in 1...100 {
            pace.end(.delivered, of: "busy", at: .zero)
            #expect(pace.reserve(for: "busy", at: .zero) == 1)
        }
        #expect(pace.reserve(for: "b", at: .zero) == 1 && pace.reserve(for: "c", at: .zero) == 1)
        #expect(pace.reserve(for: "b", at: .zero) == 0)
        var many = ForwardPace(apps: 12)
        #expect((1...12).allSatisfy { many.reserve(for: "\($0)", at: .zero) == 1 } && many.places == 12)
    }

    @Test func `FW9 a server that asks for a wait gets no request before its end, and the notification waits as long`()
    {
        var pace = ForwardPace()
        _ = pace.reserve(for: "a", at: .zero)
        let now = UnixMilliseconds(rawValue: 1_800_000_000_000)
        for retryAfter in ["120", "Fri, 15 Jan 2027 08:02:00 GMT"] {
            let outcome = ForwardPoster.outcome(of: 503, retryAfter: [retryAfter], now: now)
            #expect(outcome == .unavailable("HTTP status 503", wait: .seconds(120)))
        }
        #expect(ForwardPoster.outcome(of: 429, retryAfter: ["soon"], now: now) == .unavailable("HTTP status 429"))
        let asked = ForwardOutcome.unavailable("HTTP status 503", wait: .seconds(120))
        #expect(asked.delay(after: 1) == .seconds(120) && asked.delay(after: 9) == .seconds(256))
        pace.end(asked, of: "a", at: .zero)
        pace.end(Self.failure, of: "a", at: .seconds(1))
        #expect(pace.reserve(for: "a", at: .seconds(119)) == 0)
        #expect(pace.reserve(for: "a", at: .seconds(120)) == 2)
    }

    @Test func `notifications that the server refuses do not stop the others`() {
        var pace = ForwardPace()
        for _ in 1...20 {
            #expect(pace.reserve(for: "a", at: .zero) == 8)
            for _ in 1...8 { pace.end(.refused("HTTP status 400"), of: "a", at: .zero) }
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

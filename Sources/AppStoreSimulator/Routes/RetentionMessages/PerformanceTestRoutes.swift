import AppStoreModel
import Basics

extension Route {
    /// Initiate Performance Test.
    ///
    /// The simulator sends no requests to a real-time URL; each test passes after two requests for its result.
    static let initiatePerformanceTest = Route(
        "initiatePerformanceTest",
        .post,
        "/inApps/v1/messaging/performanceTest",
        requestsPerSecond: 1,
        action: { request, world throws(APIError) in
            let body = try RequestBody(request.body, members: ["originalTransactionId"])
            let text = try body.text("originalTransactionId", or: .transactionId)
            guard let id = TransactionID(text) else { throw .transactionId }
            guard world.customer(ofAppTransaction: id) == nil else { throw .appTransactionIdNotSupported }
            guard world.purchase(originalId: id) != nil else { throw .transactionId }
            guard !world.retention.tests.values.contains(where: { $0.remainingRequests > 0 }) else {
                throw .existingPerformanceTest
            }
            var random = SplitMix64(seed: world.parameters.seed, path: 16, UInt64(world.retention.tests.count))
            let requestId = random.uuid()
            world.retention.tests[requestId] = .init(
                remainingRequests: 2,
                realtimeURL: world.retention.realtimeURL ?? "https://example.com/retention"
            )
            world.actions.record(request, requestIdentifier: requestId, isApplied: true)
            let answer = SimulatedAnswer {
                $0.member("config", raw: performanceTestConfig)
                $0.member("requestId", requestId)
            }
            return ActionResult(answer: answer)
        }
    )

    /// Get Performance Test Results.
    static let performanceTestResult = Route(
        "performanceTestResult",
        .get,
        "/inApps/v1/messaging/performanceTest/result/{requestId}",
        requestsPerSecond: 1,
        action: { request, world throws(APIError) in
            guard let id = request.parameters["requestId"], UUIDText.bytes(ofAnyForm: id) != nil else {
                throw .performanceTestRequestId
            }
            guard let test = world.retention.tests[id] else { throw .performanceTestNotFound }
            let left = max(0, test.remainingRequests - 1)
            world.retention.tests[id]?.remainingRequests = left
            let answer = SimulatedAnswer { json in
                json.member("config", raw: performanceTestConfig)
                json.member("target", test.realtimeURL)
                json.member("result", left == 0 ? "PASS" : "PENDING")
                json.member("successRate", Int64(left == 0 ? 100 : 0))
                json.member("numPending", Int64(left == 0 ? 0 : 50))
                json.member(
                    "responseTimes",
                    raw: jsonObject {
                        $0.member("average", Int64(120))
                        $0.member("p50", Int64(110))
                        $0.member("p90", Int64(180))
                        $0.member("p95", Int64(210))
                        $0.member("p99", Int64(300))
                    }
                )
                json.member("failures", raw: jsonObject { _ in })
            }
            return ActionResult(answer: answer, isRecorded: test.remainingRequests > 0)
        }
    )

    /// The numbers are examples; Apple's are not documented.
    private static let performanceTestConfig = jsonObject {
        $0.member("maxConcurrentRequests", Int64(10))
        $0.member("totalRequests", Int64(50))
        $0.member("totalDuration", Int64(10_000))
        $0.member("responseTimeThreshold", Int64(700))
        $0.member("successRateThreshold", Int64(95))
    }
}

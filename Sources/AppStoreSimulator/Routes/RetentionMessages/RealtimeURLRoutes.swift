import AppStoreModel

extension Route {
    private static let realtimePath = "/inApps/v1/messaging/realtime/url"

    /// Configure Realtime URL.
    ///
    /// In production a performance test must have passed before.
    static let configureRealtimeURL = Route(
        "configureRealtimeURL",
        .put,
        realtimePath,
        requestsPerSecond: 1,
        action: { request, world throws(APIError) in
            let url = try RequestBody(request.body, members: ["realtimeURL"]).text("realtimeURL", or: .realtimeURL)
            guard url.hasPrefix("https://"), url.count <= 256 else { throw .realtimeURL }
            let hasPassed = world.retention.tests.values.contains { $0.remainingRequests == 0 }
            guard hasPassed || world.parameters.environment == .sandbox else { throw .noPassingTest }
            world.retention.realtimeURL = url
            world.actions.record(request, isApplied: true)
            return ActionResult(answer: SimulatedAnswer(status: 200))
        }
    )

    /// Get Realtime URL.
    static let realtimeURL = Route(
        "realtimeURL",
        .get,
        realtimePath,
        requestsPerSecond: 1,
        action: { _, world throws(APIError) in
            guard let url = world.retention.realtimeURL else { throw .realtimeURLNotFound }
            return ActionResult(answer: SimulatedAnswer { $0.member("realtimeURL", url) }, isRecorded: false)
        }
    )

    /// Delete Realtime URL.
    static let deleteRealtimeURL = Route(
        "deleteRealtimeURL",
        .delete,
        realtimePath,
        requestsPerSecond: 1,
        action: { request, world throws(APIError) in
            guard world.retention.realtimeURL != nil else { throw .realtimeURLNotFound }
            world.retention.realtimeURL = nil
            world.actions.record(request, isApplied: true)
            return ActionResult(answer: SimulatedAnswer(status: 200))
        }
    )
}

extension Route {
    /// Request a Test Notification: Apple sends a TEST notification to the app's server.
    static let requestTestNotification = Route(
        "requestTestNotification",
        .post,
        "/inApps/v1/notifications/test",
        requestsPerSecond: 1,
        action: { request, world throws(APIError) in
            guard request.body.isEmpty else { throw .badRequest }
            let (token, change) = world.sendTestNotification(at: request.date)
            world.actions.record(request, requestIdentifier: token, isApplied: true)
            return ActionResult(
                answer: SimulatedAnswer { $0.member("testNotificationToken", token) },
                changes: [change]
            )
        }
    )
}

extension World {
    /// - `date`: Milliseconds since 1970.
    fileprivate mutating func sendTestNotification(at date: Int64) -> (token: String, change: WorldChange) {
        now = moment(for: date)
        let notification = NotificationBuilder.notification(
            NotificationKind("TEST", about: .app),
            at: now,
            content: .none,
            in: app,
            seed: parameters.seed
        )
        var random = SplitMix64(seed: parameters.seed, path: 15, UInt64(now))
        // Apple's tokens have this form.
        let token = random.uuid() + "_" + String(now / 1_000)
        let change = record(notification)
        testNotifications[token] = change.place
        return (token, change)
    }
}

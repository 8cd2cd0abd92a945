extension ObjectShape {
    /// The `unclaimInfo` of the notification UNCLAIM_SEATS: the seats that Apple has taken back.
    ///
    /// Source: unclaimInfo, App Store Server Notifications 2.23, read 2026-11.
    package static let unclaimInfo = ObjectShape(
        "UnclaimInfo",
        [
            Field("bundleId", .text),
            Field("appAppleId", .integer64),
            Field("environment", .environment),
            Field("unclaimSeatIds", .textArray),
        ]
    )
}

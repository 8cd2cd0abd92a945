/// What a receiver allows one request, and all together.
package struct ReceiverLimits: Sendable {
    /// The most bytes of a body.
    package var bodyBytes = 1_024 * 1_024
    /// The most notifications that are read, verified and stored at a time.
    package var requests = 512
    /// The most open connections; further ones wait to be accepted.
    package var connections = 16_384
    /// The time from the first byte of a request to its last.
    package var readTime = Duration.seconds(5)
    /// How long a notification waits for its commit.
    package var storeTime = Duration.seconds(5)
    /// How long an idle connection stays open.
    package var idleTime = Duration.seconds(300)

    package init() {}
}

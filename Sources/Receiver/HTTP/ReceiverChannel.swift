import HummingbirdCore
import Logging
import NIOCore

/// A connection: Hummingbird's HTTP/1.1 behind a ``RequestDeadline``.
struct ReceiverChannel: ServerChildChannel {
    let http: HTTP1Channel
    let readLimit: TimeAmount
    let tookTooLong: @Sendable () -> Void

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        do {
            try channel.pipeline.syncOperations.addHandler(
                RequestDeadline(limit: readLimit, tookTooLong: tookTooLong)
            )
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return http.setup(channel: channel, logger: logger)
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await http.handle(value: value, logger: logger)
    }
}

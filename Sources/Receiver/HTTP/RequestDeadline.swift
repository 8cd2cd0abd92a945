import NIOCore

/// Closes a connection whose request is not read in time, and stops reading a request that is answered before its end.
///
/// It is the first handler of a connection, so it sees bytes before they are parsed. The responder tells it when the request
/// has been read.
final class RequestDeadline: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// What the responder says about its request; sent as an outbound user event.
    enum Event: Sendable {
        case requestRead
        /// The request will be answered without being read to its end.
        case answersEarly
    }

    private enum State {
        case waitingForRequest
        case reading
        case answering(hasReceivedMore: Bool)
        /// The answer is given before the request was read.
        case answeringEarly
        /// The answer is sent and the output closed. The client may still send, and what it sends is dropped. Without that,
        /// the system would reset the connection, and the client would not see the answer.
        case dropping
    }

    private let limit: TimeAmount
    private let tookTooLong: @Sendable () -> Void
    private var state = State.waitingForRequest
    private var hasWritten = false
    private var timer: Scheduled<Void>?

    /// - Parameters:
    ///   - limit: The time from the first byte of a request to the last. After an early answer, the connection is closed when
    ///     this time is over.
    ///   - tookTooLong: Called when a connection is closed because its request was not read in time.
    init(limit: TimeAmount, tookTooLong: @escaping @Sendable () -> Void) {
        self.limit = limit
        self.tookTooLong = tookTooLong
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch state {
        case .waitingForRequest: beginReading(context)
        case .answering: state = .answering(hasReceivedMore: true)
        case .reading, .answeringEarly: break
        case .dropping: return
        }
        context.fireChannelRead(data)
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        switch event as? Event {
        case .requestRead:
            cancelTimer()
            state = .answering(hasReceivedMore: false)
            promise?.succeed()
        case .answersEarly:
            state = .answeringEarly
            promise?.succeed()
        case nil:
            context.triggerUserOutboundEvent(event, promise: promise)
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        hasWritten = true
        context.write(data, promise: promise)
    }

    /// Ends the answer: the server writes an answer as a whole and flushes once.
    func flush(context: ChannelHandlerContext) {
        context.flush()
        guard hasWritten else { return }
        hasWritten = false
        switch state {
        case .answering(hasReceivedMore: true): beginReading(context)
        case .answering(hasReceivedMore: false): state = .waitingForRequest
        case .answeringEarly:
            state = .dropping
            context.close(mode: .output, promise: nil)
        case .waitingForRequest, .reading, .dropping: break
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        cancelTimer()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { cancelTimer() }

    private func beginReading(_ context: ChannelHandlerContext) {
        state = .reading
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: limit) {
            if case .reading = self.state { self.tookTooLong() }
            context.close(promise: nil)
        }
    }

    private func cancelTimer() {
        timer?.cancel()
        timer = nil
    }
}

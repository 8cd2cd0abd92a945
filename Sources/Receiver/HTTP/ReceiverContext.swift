import Hummingbird
import NIOCore

/// Hummingbird's context of a request, with the connection.
struct ReceiverContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    private let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// The request was read to its end, so its time limit no longer applies.
    func endReading() {
        channel.triggerUserOutboundEvent(RequestDeadline.Event.requestRead, promise: nil)
    }

    /// The answer that comes next is the last on this connection, and the rest of the request is dropped.
    func answerEarly() async {
        // It fails when the client has closed the connection, which has the same effect.
        try? await channel.triggerUserOutboundEvent(RequestDeadline.Event.answersEarly).get()
    }
}
